import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('./RESULTS.md', import.meta.url));
const COLUMNS = ['what', 'rate', 'ratio', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU µs: service', 'postgres', 'load', 'bar'];

/** One section a scenario, as Markdown, which reads well on a terminal too. */
export function sectionOf({ key, title }, rows) {
  if (rows.length === 0) return `### ${key}. ${title}\n\nNot in this version of the service.\n`;
  const lines = rows.map(cellsOf);
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...lines.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`### ${key}. ${title}\n`, line(COLUMNS), rule, ...lines.map(line), ''].join('\n');
}

function cellsOf(row) {
  const { what, rate, unit, ratio, p50, p95, p99, cpu = {} } = row;
  const times = [p50, p95, p99].map((ms) => number(ms, 1));
  const cpus = [cpu.service, cpu.postgres, cpu.load].map((us) => number(us, 0));
  return [
    what,
    `${Math.round(rate).toLocaleString('en')} ${unit}`,
    number(ratio, 2),
    ...times,
    ...cpus,
    verdictOf(row),
  ];
}

/** The promised figure of a row, and whether it was reached. */
function verdictOf({ ratio, p50, p99, atLeast, p50Max, p99Max }) {
  const bars = [
    ...(atLeast === undefined ? [] : [[`≥ ${atLeast}`, ratio >= atLeast]]),
    ...(p50Max === undefined ? [] : [[`p50 ≤ ${p50Max} ms`, p50 <= p50Max]]),
    ...(p99Max === undefined ? [] : [[`p99 ≤ ${p99Max} ms`, p99 <= p99Max]]),
  ];
  return bars.map(([words, isMet]) => `${words}: ${isMet ? 'met' : 'MISSED'}`).join(', ');
}

function number(value, digits) {
  return value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);
}

export function writeResults({ command, machine, sections, date }) {
  const head = [
    '# What was measured\n',
    `\`${command}\`, ${date}. Everything runs on one machine at the same time; ratios compare within one run, round by`,
    'round, because shared machines breathe. CPU is in microseconds a request (an event, in batches), by process.\n',
    ...machine.map((line) => `- ${line}`),
    '',
  ];
  writeFileSync(RESULTS, [...head, ...sections].join('\n'));
}
