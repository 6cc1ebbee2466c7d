import { freshDatabaseUrl } from '../support/database';
import { retentionRound } from '../support/retention-round';

const EVENTS = 20_000;

it('nine tenths of the events expire under load and kill -9: repeats are duplicates, and little is left', async () => {
  const url = await freshDatabaseUrl('event_retention');
  const report = await retentionRound({ url, events: EVENTS, periodMs: 300, periods: 2, kills: 1 });
  expect(report).toMatchObject({ expired: EVENTS * 0.9, left: EVENTS * 0.1 });
  expect(report.repeats['duplicate']).toBeGreaterThan(0);
  expect(Object.keys(report.repeats).filter((status) => status !== 'unavailable')).toEqual(['duplicate']);
  expect(report.longestTransactionMs).toBeLessThan(1_000);
  expect(report.longestLockWaitMs).toBeLessThan(1_000);
  expect(report.bytesPerExpired).toBeLessThanOrEqual(100);
  expect(report.growth).toBeLessThan(0.05);
});
