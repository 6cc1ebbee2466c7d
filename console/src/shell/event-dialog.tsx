import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schema } from '../api/api-types';
import { useRead } from '../api/queries';
import { Badge, type Tone } from '../design/badge';
import { Button } from '../design/button';
import { CopyableId } from '../design/copyable-id';
import { Dialog } from '../design/dialog';
import { useFilters } from '../design/filters';
import { JsonView } from '../design/json-view';
import { Properties, Section } from '../design/page';
import { Loaded } from '../design/state-views';
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
  const [isUnmasked, setUnmasked] = useState(false);
  const mayUnmask = useScope('pii:read');
  const query = isUnmasked ? ({ unmask: 'true' } as const) : {};
  const event = useRead('/v1/events/{eventId}', { path: { eventId }, query });
  return (
    <Loaded query={event}>
      {(found) => (
        <>
          <Properties entries={entriesOf(found)} />
          <EventEffects processing={found.processing} />
          <Section
            title="Identity and properties"
            actions={mayUnmask && !isUnmasked && <Button onClick={() => setUnmasked(true)}>Show personal data</Button>}
          >
            <JsonView
              value={{ identity: found.identity, properties: found.properties }}
              what="identity and properties"
            />
          </Section>
        </>
      )}
    </Loaded>
  );
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
