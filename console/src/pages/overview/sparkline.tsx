import type { IngestSeries } from './ingest-series';
import styles from './overview.module.css';

const WIDTH = 120;
const HEIGHT = 24;

/** Accepted and refused events as two small lines; the columns beside it have the numbers. */
export function Sparkline({ series: { accepted, refused } }: { readonly series: IngestSeries }) {
  const max = Math.max(1, ...accepted, ...refused);
  return (
    <svg
      className={styles['sparkline']}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <polyline className={styles['accepted']} points={pointsOf(accepted, max)} />
      {refused.some((count) => count > 0) && <polyline className={styles['refused']} points={pointsOf(refused, max)} />}
    </svg>
  );
}

function pointsOf(values: readonly number[], max: number): string {
  const stepWidth = WIDTH / Math.max(1, values.length - 1);
  const heightOf = (value: number): number => HEIGHT - 1 - (value / max) * (HEIGHT - 2);
  return values.map((value, index) => `${(index * stepWidth).toFixed(1)},${heightOf(value).toFixed(1)}`).join(' ');
}
