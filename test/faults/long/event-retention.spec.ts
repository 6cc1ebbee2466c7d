import { freshDatabaseUrl } from '../../support/database';
import { retentionRound } from '../../support/retention-round';

const EVENTS = Number(process.env['FAULT_RETENTION_EVENTS'] ?? '5000000');
const PERIOD_MS = 10_000;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

it('nine tenths of millions of events expire under load and kill -9, and ingest keeps nine tenths of its rate', async () => {
  const url = await freshDatabaseUrl('event_retention_long');
  const report = await retentionRound({ url, events: EVENTS, periodMs: PERIOD_MS, periods: 12, kills: 3 });
  // The first periods have the kills in them.
  const ratios = report.rates.slice(3).map(({ off, on }) => on / off);
  process.stdout.write(`${JSON.stringify({ ...report, ratios }, null, 2)}\n`);
  expect(report).toMatchObject({ expired: EVENTS * 0.9, left: EVENTS * 0.1 });
  expect(Object.keys(report.repeats).filter((status) => status !== 'unavailable')).toEqual(['duplicate']);
  expect(report.longestTransactionMs).toBeLessThan(1_000);
  expect(report.longestLockWaitMs).toBeLessThan(1_000);
  expect(report.bytesPerExpired).toBeLessThanOrEqual(100);
  expect(report.growth).toBeLessThan(0.01);
  expect(median(ratios)).toBeGreaterThanOrEqual(0.9);
}, 7_200_000);
