import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { DataTable, type Column } from '../../design/data-table';
import { Time } from '../../design/time';
import { useTheme } from '../../shell/theme';
import type { IngestSeries } from './ingest-series';
import styles from './overview.module.css';

const HEIGHT = 240;
const LINES = [
  { name: 'accepted', label: 'Accepted', color: 'var(--good)' },
  { name: 'duplicate', label: 'Duplicate', color: 'var(--text-muted)' },
  { name: 'refused', label: 'Refused', color: 'var(--bad)' },
] as const;

interface Step {
  readonly at: string;
  readonly accepted: number;
  readonly duplicate: number;
  readonly refused: number;
}

const COLUMNS: readonly Column<Step>[] = [
  { id: 'at', header: 'From', cell: ({ at }) => <Time at={at} exact />, grow: true },
  ...LINES.map(({ name, label }): Column<Step> => ({
    id: name,
    header: label,
    align: 'end',
    cell: (step) => step[name].toLocaleString(),
  })),
];

/** Answers over time as lines, and the same numbers as a table. */
export function IngestChart({ series, label }: { readonly series: IngestSeries; readonly label: string }) {
  const [pointed, setPointed] = useState<number | null>(null);
  const steps = series.times.map((_, index) => stepAt(series, index));
  const shown = pointed === null ? undefined : steps[pointed];
  return (
    <figure className={styles['chart']}>
      <figcaption>
        <ul className={styles['legend']}>
          {LINES.map(({ name, label: text }) => (
            <li key={name} className={styles[name]}>
              {text} <strong>{(shown?.[name] ?? sumOf(series[name])).toLocaleString()}</strong>
            </li>
          ))}
          <li>{shown === undefined ? label : <Time at={shown.at} exact />}</li>
        </ul>
      </figcaption>
      <Canvas series={series} onPoint={setPointed} />
      <details>
        <summary>Show as a table</summary>
        <DataTable
          label={`${label}: answers over time`}
          columns={COLUMNS}
          rows={steps.toReversed()}
          rowKey={({ at }) => at}
        />
      </details>
    </figure>
  );
}

interface CanvasProps {
  readonly series: IngestSeries;
  readonly onPoint: (index: number | null) => void;
}

/** Its numbers stand in the table, too: a screen reader leaves it out. */
function Canvas({ series, onPoint }: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [theme] = useTheme();

  useEffect(() => {
    if (host.current === null) return undefined;
    const element = host.current;
    const created = new uPlot(optionsFor(element, onPoint), [[], [], [], []], element);
    plot.current = created;
    const resized = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => recolor(created);
    dark.addEventListener('change', redraw);
    return () => {
      dark.removeEventListener('change', redraw);
      resized.disconnect();
      created.destroy();
    };
  }, [onPoint]);

  useEffect(() => {
    const { times, accepted, duplicate, refused } = series;
    plot.current?.setData([times.map((time) => time / 1000), [...accepted], [...duplicate], [...refused]]);
  }, [series]);

  useEffect(() => recolor(plot.current), [theme]);

  return <div ref={host} className={styles['canvas']} aria-hidden="true" />;
}

function optionsFor(host: HTMLElement, onPoint: (index: number | null) => void): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => colorOf(host, 'var(--text-muted)'),
    grid: { stroke: () => colorOf(host, 'var(--border)'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: host.clientWidth,
    height: HEIGHT,
    // Half of the last time at the axis stands there.
    padding: [8, 40, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.05, 5)] } },
    axes: [
      { ...axis, space: 80, values: timesOf },
      { ...axis, size: 56, values: (_, values) => values.map((value) => value.toLocaleString()) },
    ],
    series: [
      {},
      ...LINES.map(({ label, color }) => ({
        label,
        width: 1.5,
        stroke: () => colorOf(host, color),
        points: { show: false },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** The times at the axis in the viewer's words; the day stands where one begins. `seconds`: epoch. */
function timesOf(_: uPlot, seconds: readonly number[]): string[] {
  return seconds.map((second) => {
    const at = new Date(second * 1000);
    return at.getHours() === 0 && at.getMinutes() === 0 ? DAY.format(at) : TIME.format(at);
  });
}

/** A canvas knows no custom properties: the browser works out the color of the element that holds it. */
function colorOf(host: HTMLElement, color: string): string {
  host.style.color = color;
  return getComputedStyle(host).color;
}

/** Before its first drawing it would forget the range of its data. */
function recolor(plot: uPlot | undefined): void {
  if (plot?.scales['x']?.min != null) plot.redraw();
}

function stepAt({ times, accepted, duplicate, refused }: IngestSeries, index: number): Step {
  return {
    at: new Date(times[index] ?? 0).toISOString(),
    accepted: accepted[index] ?? 0,
    duplicate: duplicate[index] ?? 0,
    refused: refused[index] ?? 0,
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
