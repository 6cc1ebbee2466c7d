import { CodeBlock } from '../../design/code-block';
import { classes } from '../../design/classes';
import { FaultList } from '../../design/fault-list';
import { visibleText } from '../../design/visible-text';
import type { ErrorDetail } from '../../api/api-error';
import { payloadLines } from './payload-lines';
import styles from './review.module.css';

/** More lines make a page slow, and nobody reads them. */
const LINES_MAX = 2_000;

interface PayloadViewProps {
  readonly payload: unknown;
  readonly faults: readonly ErrorDetail[];
}

/** What the client sent, with each fault beside its field. */
export function PayloadView({ payload, faults }: PayloadViewProps) {
  const isText = typeof payload === 'string';
  const { lines, others } = payloadLines(isText ? {} : payload, faults);
  const shown = lines.slice(0, LINES_MAX);
  const apart = isText ? faults : [...others, ...lines.slice(LINES_MAX).flatMap((line) => line.faults)];
  return (
    <div className={styles['payloadView']}>
      {apart.length > 0 && <FaultList faults={apart} />}
      {isText ? (
        <CodeBlock code={payload} what="payload" />
      ) : (
        <ol className={styles['lines']} tabIndex={0} aria-label="Payload">
          {shown.map(({ text, faults: beside }, index) => (
            <li key={index} className={classes(beside.length > 0 && styles['faulty'])}>
              <code>{visibleText(text)}</code>
              {beside.map((fault, at) => (
                <span key={at} className={styles['fault']}>
                  {visibleText(fault.message)}
                </span>
              ))}
            </li>
          ))}
        </ol>
      )}
      {lines.length > LINES_MAX && <p>{`${(lines.length - LINES_MAX).toLocaleString()} more lines are not shown.`}</p>}
    </div>
  );
}
