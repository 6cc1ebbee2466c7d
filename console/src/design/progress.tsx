import { Progress as BaseProgress } from '@base-ui/react/progress';
import styles from './progress.module.css';

interface ProgressProps {
  readonly label: string;
  readonly done: number;
  /** Null while it is not known. */
  readonly total: number | null;
}

/** How far a long action is, in numbers and as a bar. */
export function Progress({ label, done, total }: ProgressProps) {
  const text = total === null ? done.toLocaleString() : `${done.toLocaleString()} of ${total.toLocaleString()}`;
  return (
    <BaseProgress.Root
      className={styles['progress']}
      value={total === null ? null : Math.min(done, total)}
      max={Math.max(total ?? 1, 1)}
      getAriaValueText={() => text}
    >
      <BaseProgress.Label>{label}</BaseProgress.Label>
      <span>{text}</span>
      <BaseProgress.Track className={styles['track']}>
        <BaseProgress.Indicator className={styles['bar']} />
      </BaseProgress.Track>
    </BaseProgress.Root>
  );
}
