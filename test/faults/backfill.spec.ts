import { readSample } from '../../src/demo/cdnow';
import { backfillRound } from '../support/backfill-round';

/** `npm run test:faults` asks for all 6,919 and more kills. */
const PURCHASES = Number(process.env['FAULT_BACKFILL_PURCHASES'] ?? 1_500);
const KILLS = Number(process.env['FAULT_BACKFILL_KILLS'] ?? 1);
const SECONDS = 60 + PURCHASES / 50;

it(
  `${KILLS} kill -9 of both workers leave a backfilled campaign equal, to the cent, to one that was there from the start`,
  async () => {
    const purchases = readSample().slice(0, PURCHASES);
    const report = await backfillRound({ purchases, kills: KILLS, seconds: SECONDS });
    for (const first of report.first) {
      expect(first).toMatchObject({ state: 'done', applied: report.before, failed: 0, waiting: 0 });
    }
    for (const again of report.again) {
      expect(again).toMatchObject({ state: 'done', total: purchases.length, matched: 0, skipped: purchases.length });
    }
    expect(report.fromStart).toEqual(report.expected);
    expect(report.afterwards).toEqual(report.expected);
    expect(report.brokenHistories).toEqual([]);
    // Each event adds to a customer's points and to the campaign's revenue.
    expect(report.causes).toEqual({ backfill: 2 * report.before, reaction: 2 * report.live });
  },
  3 * SECONDS * 1_000,
);
