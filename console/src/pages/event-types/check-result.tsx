import type { Schema } from '../../api/api-types';
import { Badge, type Tone } from '../../design/badge';
import { DataTable, type Column } from '../../design/data-table';
import { FaultList } from '../../design/fault-list';
import { visibleText } from '../../design/visible-text';
import styles from './event-types.module.css';

type Trial = Schema<'EventTypeTrialDto'>;
type Reason = Schema<'SampleReasonDto'>;

const OUTCOMES: Readonly<Record<Trial['outcome'], { readonly tone: Tone; readonly words: string }>> = {
  new: { tone: 'accent', words: 'This is a new event type.' },
  identical: { tone: 'neutral', words: 'This equals the current version: there is nothing to publish.' },
  compatible: { tone: 'good', words: 'Every event that was valid before stays valid.' },
  breaking: { tone: 'bad', words: 'Events that were valid before would be refused.' },
};

const REASONS: readonly Column<Reason>[] = [
  { id: 'path', header: 'Field', cell: ({ path }) => <code>{visibleText(path)}</code>, grow: true },
  { id: 'code', header: 'Fault', cell: ({ code }) => code },
  { id: 'count', header: 'Events', align: 'end', cell: ({ count }) => count.toLocaleString() },
];

/** What publishing a definition would do, and how many recent events it would refuse. */
export function CheckResult({ trial: { outcome, breaks, sample } }: { readonly trial: Trial }) {
  const { tone, words } = OUTCOMES[outcome];
  return (
    <section role="status" aria-label="Check" className={styles['panel']}>
      <p>
        <Badge tone={tone}>{outcome}</Badge> {words}
      </p>
      {breaks.length > 0 && <FaultList faults={breaks} />}
      {sample === undefined ? (
        <p>How many recent events would pass is shown to keys with the scope events:read.</p>
      ) : (
        <Sample sample={sample} />
      )}
    </section>
  );
}

function Sample({ sample: { checked, fail, reasons } }: { readonly sample: NonNullable<Trial['sample']> }) {
  if (checked === 0) return <p>No event of this type is stored or refused, so that none was checked.</p>;
  return (
    <>
      <p>
        <strong>{`Would fail ${fail.toLocaleString()} of the last ${checked.toLocaleString()}`}</strong> stored and
        refused events of this type. Personal properties are not checked.
      </p>
      {reasons.length > 0 && (
        <DataTable
          label="Why they would fail"
          columns={REASONS}
          rows={reasons}
          rowKey={({ path, code }) => `${path} ${code}`}
        />
      )}
    </>
  );
}
