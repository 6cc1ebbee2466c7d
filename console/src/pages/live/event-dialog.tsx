import { useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { Button } from '../../design/button';
import { CopyableId } from '../../design/copyable-id';
import { Dialog } from '../../design/dialog';
import { JsonView } from '../../design/json-view';
import { Properties } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { useScope } from '../../shell/session-context';
import styles from './live.module.css';

/** Its id in the address. */
const OPEN = 'event';
const TONES = { queued: 'neutral', processed: 'good', failed: 'bad' } as const;

/** Opens the dialog on an event. */
export function OpenEvent({ eventId, children }: { readonly eventId: string; readonly children: ReactNode }) {
  const [, setSearch] = useSearchParams();
  const open = (): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.set(OPEN, eventId);
      return after;
    });
  return (
    <button type="button" className={styles['open']} onClick={open}>
      {children}
    </button>
  );
}

/** A stored event. The address says which one. */
export function EventDialog() {
  const [search, setSearch] = useSearchParams();
  const eventId = search.get(OPEN);
  const close = (): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.delete(OPEN);
      return after;
    });
  return (
    <Dialog title="Event" open={eventId !== null} onClose={close} wide>
      {eventId !== null && <EventView key={eventId} eventId={eventId} />}
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
          <div className={styles['head']}>
            <h3>Identity and properties</h3>
            {mayUnmask && !isUnmasked && <Button onClick={() => setUnmasked(true)}>Show personal data</Button>}
          </div>
          <JsonView value={{ identity: found.identity, properties: found.properties }} what="identity and properties" />
        </>
      )}
    </Loaded>
  );
}

function entriesOf(event: Schema<'EventDto'>): (readonly [string, ReactNode])[] {
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
    ['Customer', <CopyableId id={event.profileId} what="customer id" href={`/customers/${event.profileId}`} />],
    ['Occurred', <Time at={event.occurredAt} exact />],
    ['Received', <Time at={event.receivedAt} exact />],
    ['Processing', <Badge tone={TONES[processing.state]}>{processing.state}</Badge>],
    ['Processed', <Time at={processing.processedAt} exact />],
    ...(processing.lastError === null ? [] : ([['Last error', visibleText(processing.lastError)]] as const)),
    ...(processing.state === 'failed' ? ([['Repair', <Link href="/review">Find it in review</Link>]] as const) : []),
  ];
}
