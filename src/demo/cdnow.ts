import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClientFailure } from '../cli/running-service';

/** One purchase of the CDNOW sample. */
export interface Purchase {
  /** Customer in the sample, `0001` to `2357`. */
  readonly customer: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** 1 for the customer's first purchase of that day. */
  readonly position: number;
  readonly quantity: number;
  /** US cents. Whole, so that sums are exact. */
  readonly cents: number;
}

const LINE =
  /^\s*\d+\s+(?<customer>\d{4})\s+(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)\s+(?<cds>\d+)\s+(?<dollars>\d+)\.(?<cents>\d\d)\s*$/;

/** Reads the sample; data/cdnow/README.md explains its columns. Throws an `Error` that names the first line it cannot read. */
export function parsePurchases(text: string): readonly Purchase[] {
  const boughtThatDay = new Map<string, number>();
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => {
      const purchase = parseLine(line, number);
      const day = `${purchase.customer} ${purchase.date}`;
      const position = (boughtThatDay.get(day) ?? 0) + 1;
      boughtThatDay.set(day, position);
      return { ...purchase, position };
    });
}

/** The id that stays the same however often the purchase is sent: `0001-19970101-1`. */
export function purchaseId({ customer, date, position }: Purchase): string {
  return `${customer}-${date.replaceAll('-', '')}-${position}`;
}

function parseLine(line: string, number: number): Omit<Purchase, 'position'> {
  const fields = LINE.exec(line)?.groups;
  if (fields === undefined) throw new Error(`Line ${number} of the CDNOW sample is not a purchase.`);
  const { customer = '', year, month, day, cds, dollars, cents } = fields;
  return {
    customer,
    date: `${year}-${month}-${day}`,
    quantity: Number(cds),
    cents: Number(`${dollars}${cents}`),
  };
}

const SAMPLE = join('data', 'cdnow', 'cdnow-sample.txt');

/** The sample that comes with the project, wherever the demo is called from. */
export function readSample(): readonly Purchase[] {
  return parsePurchases(readFileSync(findInProject(SAMPLE), 'utf8'));
}

/** Upwards from this file, because the build puts it one folder deeper than the source. */
function findInProject(path: string): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, path);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) throw new ClientFailure(`${path} is missing; it comes with the project.`);
  }
}
