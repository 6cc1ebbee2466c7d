import type { ErrorDetail } from '../api/api-error';
import styles from './fault-list.module.css';
import { visibleText } from './visible-text';

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
