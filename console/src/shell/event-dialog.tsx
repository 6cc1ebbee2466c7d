import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api';
import type { Schema } from '../api/api-types';
import { useRead } from '../api/queries';
import { useAction } from '../design/action';
import { Badge, type Tone } from '../design/badge';
import { Button } from '../design/button';
import { CopyableId } from '../design/copyable-id';
import { Dialog } from '../design/dialog';
import { useFilters } from '../design/filters';
import { JsonView } from '../design/json-view';
import { Properties, Section } from '../design/page';
import { Failed, Loaded } from '../design/state-views';
import { Time } from '../design/time';
import { visibleText } from '../design/visible-text';
import { EventEffects } from './event-effects';
import { CustomerId, OPEN_EVENT } from './record-ids';
import { useScope } from './session-context';

type StoredEvent = Schema<'EventDto'>;

const TONES: Readonly<Record<StoredEvent['processing']['state'], Tone>> = {
  queued: 'neutral',
  processed: 'good',
  failed: 'bad',
};

/** Once, in the shell: a stored event over any page. The address says which one, and `EventId` leads to it. */
export function EventDialog() {
  const [{ event: eventId }, change] = useFilters([OPEN_EVENT]);
  return (
    <Dialog title="Event" open={eventId !== undefined} onClose={() => change({ event: undefined })} wide>
      {eventId !== undefined && <EventView key={eventId} eventId={eventId} />}
    </Dialog>
  );
}

function EventView({ eventId }: { readonly eventId: string }) {
  // In no cache: it is gone when the dialog closes.
  const [unmasked, setUnmasked] = useState<StoredEvent>();
  const { isBusy, error, run } = useAction();
  const mayUnmask = useScope('pii:read');
  const path = { eventId };
  const query = useRead('/v1/events/{eventId}', { path });
  const unmask = async (): Promise<void> =>
    setUnmasked(await api.get('/v1/events/{eventId}', { path, query: { unmask: 'true' } }));
  return (
    <Loaded query={query}>
      {(event) => (
        <>
          <Properties entries={entriesOf(event)} />
          <EventEffects processing={event.processing} />
          <Section
            title="Identity and properties"
            actions={
              mayUnmask && (
                <Button
                  busy={isBusy}
                  onClick={() => (unmasked === undefined ? void run(unmask) : setUnmasked(undefined))}
                >
                  {unmasked === undefined ? 'Show personal data' : 'Hide personal data'}
                </Button>
              )
            }
          >
            {error !== undefined && <Failed error={error} />}
            <IdentityAndProperties event={unmasked ?? event} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

function IdentityAndProperties({ event: { identity, properties } }: { readonly event: StoredEvent }) {
  return <JsonView value={{ identity, properties }} what="identity and properties" />;
}

function entriesOf(event: StoredEvent): (readonly [string, ReactNode])[] {
  const { processing } = event;
  return [
    ['Event id', <CopyableId id={event.eventId} what="event id" />],
    ['Id of the sender', <CopyableId id={event.externalEventId} what="id of the sender" />],
    ['Source', visibleText(event.source)],
    [
      'Event type',
      `${visibleText(event.eventType)}${event.eventTypeVersion === null ? '' : ` (version ${event.eventTypeVersion})`}`,
    ],
    ['Family', event.family],
    ['Customer', <CustomerId id={event.profileId} />],
    ['Occurred', <Time at={event.occurredAt} exact />],
    ['Received', <Time at={event.receivedAt} exact />],
    ['Processing', <Badge tone={TONES[processing.state]}>{processing.state}</Badge>],
    ['Processed', <Time at={processing.processedAt} exact />],
    ...(processing.lastError === null ? [] : ([['Last error', visibleText(processing.lastError)]] as const)),
    ...(processing.state === 'failed' ? ([['Repair', <Link href="/review">Find it in review</Link>]] as const) : []),
  ];
}
