import { Link } from 'wouter';
import { useRead } from '../../api/queries';
import { useFilters } from '../../design/filters';
import { formatted } from '../../design/json-editor';
import { Page } from '../../design/page';
import { Empty, Loaded } from '../../design/state-views';
import { visibleText } from '../../design/visible-text';
import { useInferredType, type InferredType } from './inferred-type';
import { EventTypeEditor } from './event-type-editor';

const EXAMPLE = {
  eventType: '',
  description: '',
  additionalProperties: 'reject',
  properties: { amount: { type: 'number', required: true }, quantity: { type: 'integer' } },
};

/** Writes a version of an event type: from nothing, from its current version, or from events that were sent. */
export function EventTypeEditorPage() {
  const [{ base, from }] = useFilters(['base', 'from']);
  const back =
    base === undefined
      ? { href: '/event-types', label: 'All event types' }
      : { href: `/event-types/${base}`, label: visibleText(base) };
  return (
    <Page title={base === undefined ? 'New event type' : `New version of ${visibleText(base)}`} back={back}>
      {base !== undefined ? (
        <NextVersion eventType={base} />
      ) : from !== undefined ? (
        <DraftFromEvents eventType={from} />
      ) : (
        <EventTypeEditor text={formatted(EXAMPLE)} />
      )}
    </Page>
  );
}

function NextVersion({ eventType }: { readonly eventType: string }) {
  const query = useRead('/v1/cdp/event-types/{eventType}', { path: { eventType } });
  return (
    <Loaded query={query}>
      {({ versions: [current] }) => {
        const { description, additionalProperties = 'reject', properties = {} } = current ?? {};
        const definition = { eventType, ...(description === undefined ? {} : { description }) };
        const text = formatted({ ...definition, additionalProperties, properties });
        // Going back over several pages leads from the version of one type to that of another.
        return <EventTypeEditor key={eventType} text={text} base={current} />;
      }}
    </Loaded>
  );
}

function DraftFromEvents({ eventType }: { readonly eventType: string }) {
  const query = useInferredType(eventType);
  return (
    <Loaded query={query}>
      {(sample) =>
        sample.stored + sample.refused === 0 ? (
          <Empty title="There are no events to draft it from">
            <p>It needs refused events (scope review:read) or stored ones (scope events:read) of this type.</p>
            <p>
              <Link href="/event-types/_new">Write it by hand</Link>
            </p>
          </Empty>
        ) : (
          <EventTypeEditor key={eventType} text={draftOf(sample)} note={noteOf(sample)} />
        )
      }
    </Loaded>
  );
}

function draftOf({ eventType, properties }: InferredType): string {
  return formatted({ eventType, additionalProperties: 'reject', properties });
}

function noteOf({ refused, stored }: InferredType): string {
  return (
    `Made from ${refused.toLocaleString()} refused and ${stored.toLocaleString()} stored events, the newest ones. ` +
    'Properties that all of them have are marked required; those whose values are hidden are marked personal. Look through ' +
    'all of it before you publish.'
  );
}
