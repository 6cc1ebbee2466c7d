import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Purchase, readSample } from '../../../src/demo/cdnow';
import { backfillRound } from '../../support/backfill-round';

/** How often the workers are killed. */
const KILLS = Number(process.env['FAULT_BACKFILL_KILLS'] ?? 2);
const SECONDS = 1_200;

/**
 * The master data set of CDNOW, of 69,659 purchases by 23,570 customers: columns 1 and 3 to 5 of data/cdnow/README.md,
 * without a heading. It does not come with the project.
 */
const FILE = process.env['FAULT_CDNOW_FILE'] ?? join(__dirname, '../../../data/cdnow/CDNOW_master.txt');
const LINE =
  /^\s*(?<customer>\d{5})\s+(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)\s+(?<cds>\d+)\s+(?<amount>\d+\.\d\d)\s*$/;
/** Without the file: so many copies of the sample, of other customers each. */
const COPIES = 10;

function readMaster(): readonly Purchase[] {
  const boughtThatDay = new Map<string, number>();
  const lines = readFileSync(FILE, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const fields = LINE.exec(line)?.groups;
    if (fields === undefined) throw new Error(`Line ${index + 1} of ${FILE} is not a purchase.`);
    const { customer = '', year, month, day, cds, amount = '' } = fields;
    const date = `${year}-${month}-${day}`;
    const position = (boughtThatDay.get(customer + date) ?? 0) + 1;
    boughtThatDay.set(customer + date, position);
    return { customer, date, position, quantity: Number(cds), cents: Number(amount.replace('.', '')) };
  });
}

function copiesOfSample(): readonly Purchase[] {
  return Array.from({ length: COPIES }, (_unused, copy) =>
    readSample().map((purchase) => ({ ...purchase, customer: `${copy}${purchase.customer}` })),
  ).flat();
}

it(
  `${KILLS} kill -9 of both workers leave 69,659 backfilled purchases equal, to the cent, to live ones`,
  async () => {
    const purchases = existsSync(FILE) ? readMaster() : copiesOfSample();
    const report = await backfillRound({ purchases, kills: KILLS, seconds: SECONDS });
    const { customers, before, live, first, again, causes } = report;
    const shown = {
      file: existsSync(FILE),
      purchases: purchases.length,
      customers,
      before,
      live,
      causes,
      first,
      again,
    };
    process.stdout.write(`${JSON.stringify({ ...shown, revenue: report.afterwards['the campaign'] }, null, 2)}\n`);
    expect(first.map(({ state, applied, failed }) => [state, applied, failed])).toEqual(
      first.map(() => ['done', before, 0]),
    );
    expect(again.map(({ state, matched, skipped }) => [state, matched, skipped])).toEqual(
      again.map(() => ['done', 0, purchases.length]),
    );
    expect(report.fromStart).toEqual(report.expected);
    expect(report.afterwards).toEqual(report.expected);
    expect(report.brokenHistories).toEqual([]);
    expect(causes).toEqual({ backfill: 2 * before, reaction: 2 * live });
  },
  5 * SECONDS * 1_000,
);
