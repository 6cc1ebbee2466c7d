import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('./RESULTS.md', import.meta.url));
const COLUMNS = [
  'what',
  'rate or size',
  'ratio',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'CPU µs: service',
  'postgres',
  'load',
  'bar',
];

/** One section per scenario, as Markdown, which is readable on a terminal too. */
export function sectionOf({ key, title }, rows) {
  if (rows.length === 0) return `### ${key}. ${title}\n\nNot in this version of the service.\n`;
  const lines = rows.map(cellsOf);
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...lines.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`### ${key}. ${title}\n`, line(COLUMNS), rule, ...lines.map(line), ''].join('\n');
}

function cellsOf(row) {
  const { what, ratio, p50, p95, p99, cpu = {} } = row;
  const times = [p50, p95, p99].map((ms) => number(ms, 1));
  const cpus = [cpu.service, cpu.postgres, cpu.load].map((us) => number(us, 0));
  return [what, amountOf(row), number(ratio, 2), ...times, ...cpus, verdictOf(row)];
}

/** The promised figure of a row, and whether it was reached. */
function verdictOf({ rate, figure, unit, ratio, p50, p99, cpu, rateMin, atLeast, p50Max, p99Max, cpuMsMax, atMost }) {
  const cpuMs = cpu === undefined ? NaN : (cpu.service + cpu.postgres) / 1_000;
  const bars = [
    ...(rateMin === undefined ? [] : [[`≥ ${rateMin.toLocaleString('en')}/s`, rate >= rateMin]]),
    ...(atLeast === undefined ? [] : [[`≥ ${atLeast}`, ratio >= atLeast]]),
    ...(atMost === undefined ? [] : [[`≤ ${atMost} ${unit}`, figure <= atMost]]),
    ...(p50Max === undefined ? [] : [[`p50 ≤ ${p50Max} ms`, p50 <= p50Max]]),
    ...(p99Max === undefined ? [] : [[`p99 ≤ ${p99Max} ms`, p99 <= p99Max]]),
    ...(cpuMsMax === undefined || Number.isNaN(cpuMs)
      ? []
      : [[`CPU ${cpuMs.toFixed(2)} ms ≤ ${cpuMsMax} ms`, cpuMs <= cpuMsMax]]),
  ];
  return bars.map(([words, isMet]) => `${words}: ${isMet ? 'met' : 'MISSED'}`).join(', ');
}

/** What a row has measured: a rate, or a `figure` of another kind with so many `digits`. */
function amountOf({ rate, figure, digits, unit }) {
  return figure === undefined
    ? `${Math.round(rate).toLocaleString('en')} ${unit}`
    : `${figure.toFixed(digits)} ${unit}`;
}

function number(value, digits) {
  return value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);
}

/** Lines of at most 120 characters, filled word by word as prettier does. */
function paragraph(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return `${lines.join('\n')}\n`;
}

const HOW_TO_READ = [
  'Everything runs on one machine at the same time. The rates of a shared machine change from minute to minute, so',
  'rates of different runs must not be compared; ratios can be.',
].join(' ');
const RATIO = [
  'A ratio compares a row with the first row of its table. The two take turns, round by round, and each round gives one',
  'ratio. The table shows the median of these ratios. It is not the ratio of the two rates in the table: a row shows the',
  'round with the median rate, which is a different round for each row. Only (k) is measured once.',
].join(' ');
const CPU = 'CPU is in microseconds per request (per event, in batches), by process.';

export function writeResults({ command, machine, sections, date }) {
  const head = [
    '# Results of the benchmark\n',
    paragraph(`\`${command}\`, ${date}. ${HOW_TO_READ}`),
    paragraph(RATIO),
    `${CPU}\n`,
    ...machine.map((line) => `- ${line}`),
    '',
  ];
  writeFileSync(RESULTS, [...head, ...sections].join('\n'));
}
