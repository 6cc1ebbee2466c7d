import { Buffer } from 'node:buffer';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { percentilesOf } from '../measure/percentiles.mjs';
import { templateOf } from './requests.mjs';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));

/**
 * Loads a service by wrk: once to warm up, then measured. Answers how many answers came in how many seconds, their percentiles,
 * the CPU by the names of `meter` and of the load, and what was not expected in either run: any other status in the first one,
 * a status above 399 in the second, where looking at each would cost what is measured a fiftieth. wrk knows whole seconds only.
 */
export async function loadByWrk({ warmUpSeconds, seconds, ...job }, meter) {
  const isWarm = warmUpSeconds <= 0;
  const warmUp = isWarm ? { unexpected: [] } : await wrk(job, warmUpSeconds, { everyStatus: true });
  let cpuMs;
  const stop = meter({});
  const measured = await wrk(job, seconds, { everyStatus: isWarm, ended: () => (cpuMs = stop()) });
  const { answers, durationUs, histogram } = measured;
  const unexpected = [...warmUp.unexpected, ...measured.unexpected];
  const samplesMs = samplesOf(histogram, Math.floor(durationUs / Math.floor(answers / job.connections)));
  if (unexpected.length === 0 && samplesMs.length !== answers) {
    throw new Error(`This wrk counts in another way: ${answers} answers, ${samplesMs.length} durations`);
  }
  return {
    answers,
    seconds: durationUs / 1e6,
    ...percentilesOf(samplesMs),
    cpuMs: { ...cpuMs, load: measured.cpuMs },
    unexpected,
  };
}

/** One run under requests of its own; `ended` is called when the load is over, before wrk counts together what it measured. */
async function wrk({ url, connections, request, expect }, seconds, { everyStatus, ended = () => undefined }) {
  const folder = mkdtempSync(join(tmpdir(), 'cds-bench-wrk-'));
  const template = join(folder, 'template.lua');
  try {
    writeFileSync(template, `return ${luaOf({ ...templateOf(request, url), everyStatus })}\n`);
    const running = run(
      'wrk',
      [
        '-t',
        '1',
        '-c',
        String(connections),
        '-d',
        String(Math.ceil(seconds)),
        '--timeout',
        '30s',
        '-s',
        SCRIPT,
        url,
        '--',
        template,
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    // Into a pipe it writes nothing until wrk.lua says so.
    running.child.stdout.once('data', ended);
    const { stdout, stderr } = await running;
    const [figures, histogram] = stdout.split('\n').filter((line) => /^[{[]/.test(line));
    if (histogram === undefined) throw new Error(`wrk did not say what it measured:\n${stdout}${stderr}`);
    const { outcomes, ...rest } = JSON.parse(figures);
    const isUnexpected = ([what, count]) => count > 0 && !expect.includes(Number(what));
    return { ...rest, histogram: JSON.parse(histogram), unexpected: Object.entries(outcomes).filter(isUnexpected) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The durations in milliseconds that wrk measured, of its histogram [[µs, count], …]. Below each it has counted further ones,
 * an interval apart ("coordinated omission": what a stall may have hidden); as no other tool here does that, they are removed again.
 */
function samplesOf(histogram, intervalUs) {
  const counts = new Map(histogram);
  for (const [us] of histogram.toReversed()) {
    const count = counts.get(us);
    for (let below = us - intervalUs; below > intervalUs; below -= intervalUs) {
      counts.set(below, counts.get(below) - count);
    }
  }
  return [...counts].flatMap(([us, count]) => Array.from({ length: count }, () => us / 1_000));
}

/** A template as Lua reads it. */
function luaOf(value) {
  if (typeof value === 'string') return luaText(value);
  if (Array.isArray(value)) return `{${value.map(luaOf).join(',')}}`;
  if (typeof value !== 'object') return String(value);
  return `{${Object.entries(value).map(([name, each]) => `${name}=${luaOf(each)}`)}}`;
}

/** Bytes that are not plain letters go by their number. */
function luaText(text) {
  const bytes = Buffer.from(text).toString('latin1');
  return `"${bytes.replaceAll(/[^ !#-[\]-~]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, '0')}`)}"`;
}
