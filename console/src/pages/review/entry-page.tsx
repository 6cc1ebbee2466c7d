import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../api/api-types';
import { useRead } from '../../api/queries';
import { Badge } from '../../design/badge';
import { CopyableId } from '../../design/copyable-id';
import { CopyButton } from '../../design/copy-button';
import { JsonView } from '../../design/json-view';
import { Page, Properties, Section } from '../../design/page';
import { Loaded } from '../../design/state-views';
import { Time } from '../../design/time';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import { EntryActions } from './entry-actions';
import { EntryStatus } from './entry-status';
import { NextEntry } from './next-entry';
import { PayloadView } from './payload-view';
import { ReplayOutcome } from './replay-outcome';
import { useReviewSelection } from './review-filters';
import styles from './review.module.css';

type Entry = Schema<'ReviewEntryDto'>;

/** One problem: its faults beside what was sent, and what can be done about it. */
export function EntryPage({ id }: { readonly id: string }) {
  const { search } = useReviewSelection();
  const query = useRead('/v1/review-entries/{id}', { path: { id } });
  return (
    <Page
      title={query.data === undefined ? 'Review entry' : visibleText(query.data.reason)}
      back={{ href: `/review${search}`, label: 'All entries of this list' }}
    >
      <Loaded query={query}>{(entry) => <EntryView entry={entry} />}</Loaded>
    </Page>
  );
}

function EntryView({ entry }: { readonly entry: Entry }) {
  const client = useQueryClient();
  const [outcome, setOutcome] = useState<Schema<'ReplayedDto'>['outcome']>();
  const refresh = async (): Promise<void> => {
    await client.invalidateQueries({ predicate: ({ queryKey: [path] }) => String(path).startsWith('/v1/review-') });
  };
  // It has a button of its own.
  const isText = typeof entry.payload === 'string';
  const onReplayed = (result: Schema<'ReplayedDto'>['outcome']): void => {
    setOutcome(result);
    void refresh();
  };
  const onDismissed = (): void => {
    // What a replay before has said of the entry no longer holds.
    setOutcome(undefined);
    void refresh();
  };
  return (
    <>
      <p className={styles['message']}>
        <EntryStatus status={entry.status} /> {entry.severity === 'warning' && <Badge tone="warning">warning</Badge>}{' '}
        {visibleText(entry.message)}
      </p>
      {outcome !== undefined && <ReplayOutcome outcome={outcome} />}
      {entry.status !== 'open' && <NextEntry />}
      <EntryActions entry={entry} onReplayed={onReplayed} onDismissed={onDismissed} />
      <EntryProperties entry={entry} />
      <Section
        title="What was sent"
        actions={isText ? undefined : <CopyButton text={JSON.stringify(entry.payload, null, 2)} what="payload" />}
      >
        {PAYLOAD_NOTES[entry.payloadState] !== undefined && <p>{PAYLOAD_NOTES[entry.payloadState]}</p>}
        {entry.payloadTruncated === true && (
          <p>It is longer than a page can show, so it cannot be corrected here. A replay sends all of it.</p>
        )}
        <PayloadView payload={entry.payload} faults={entry.details} />
      </Section>
      {entry.resolution !== null && (
        <Section title="Resolution">
          <JsonView value={entry.resolution} what="resolution" />
        </Section>
      )}
    </>
  );
}

const PAYLOAD_NOTES: Readonly<Partial<Record<Entry['payloadState'], string>>> = {
  cut: 'It was too large to be stored whole. This is its beginning.',
  not_kept: 'It was not stored, because the workspace had used up its bytes of the day.',
  removed: 'It is no longer stored: its retention is over, or it is about an erased person.',
  stored: 'The event itself is stored, and is processed again by a replay.',
};

function EntryProperties({ entry }: { readonly entry: Entry }) {
  const { id, family, stage, source, externalEventId, eventType, eventId, occurrences, firstSeenAt, lastSeenAt } =
    entry;
  return (
    <Properties
      entries={[
        ['Event type', visibleText(eventType ?? '–')],
        ['Source', visibleText(source ?? '–')],
        [
          'Event id of source',
          externalEventId === null ? '–' : <CopyableId id={externalEventId} what="event id of the source" />,
        ],
        ['Family and stage', `${family}, ${stage}`],
        ['Occurrences', occurrences.toLocaleString()],
        ['First seen', <Time key="first" at={firstSeenAt} />],
        ['Last seen', <Time key="last" at={lastSeenAt} />],
        ['Entry', <CopyableId key="id" id={id} what="entry id" />],
        ...(eventId === undefined ? [] : [['Stored event', <EventId key="event" id={eventId} />] as const]),
      ]}
    />
  );
}
