import type { Schema } from '../../api/api-types';
import { Badge } from '../../design/badge';
import { FaultList } from '../../design/fault-list';
import { visibleText } from '../../design/visible-text';
import { EventId } from '../../shell/record-ids';
import styles from './review.module.css';

type Outcome = Schema<'ReplayedDto'>['outcome'];

/** What came of a replay. */
export function ReplayOutcome({ outcome }: { readonly outcome: Outcome }) {
  const { tone, words } = RESULTS[outcome.status];
  const eventId =
    'event_id' in outcome ? outcome.event_id : 'original_event_id' in outcome && outcome.original_event_id;
  return (
    <section role="status" className={styles['outcome']}>
      <p>
        <Badge tone={tone}>{outcome.status}</Badge> {words}
      </p>
      {typeof eventId === 'string' && <EventId id={eventId} />}
      {'message' in outcome && <p>{visibleText(outcome.message)}</p>}
      {'details' in outcome && <FaultList faults={outcome.details} />}
    </section>
  );
}

const RESULTS: Readonly<
  Record<Outcome['status'], { readonly tone: 'good' | 'warning' | 'bad'; readonly words: string }>
> = {
  accepted: { tone: 'good', words: 'The event is stored, with its own id and its first time of receipt.' },
  processed: { tone: 'good', words: 'The event was stored before, and is processed now.' },
  duplicate: { tone: 'good', words: 'The event is stored already.' },
  error: { tone: 'bad', words: 'The event was refused again. The entry stays open.' },
  failed: { tone: 'bad', words: 'The event is stored, and its processing failed again.' },
};
