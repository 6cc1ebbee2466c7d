import { CodeBlock } from '../../design/code-block';
import { classes } from '../../design/classes';
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

interface FaultListProps {
  readonly faults: readonly ErrorDetail[];
  /** The line of a field in the editor, where it is known. */
  readonly lineOf?: (path: string) => number | undefined;
}

/** Faults with the fields that they are about. */
export function FaultList({ faults, lineOf }: FaultListProps) {
  return (
    <ul className={styles['faults']}>
      {faults.map(({ path, message }, index) => {
        const line = lineOf?.(path);
        return (
          <li key={index}>
            {path !== '' && <code>{visibleText(path)}</code>}
            {line !== undefined && <span className={styles['line']}>{`line ${line}`}</span>}
            <span>{visibleText(message)}</span>
          </li>
        );
      })}
    </ul>
  );
}
