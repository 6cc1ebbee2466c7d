import { anExternalEvent } from '../../support/builders';
import type { Answer, Client } from '../../support/client';
import type { Campaign } from '../../support/runtime';

/** What one client with a valid credential sends or asks to make the service work hard. */
export interface ExpensiveInput {
  readonly name: string;
  /** Stores what the request needs; not measured. */
  readonly prepare?: (campaign: Campaign) => Promise<void>;
  /** Ends when the work is done. Answers statuses, for the report. */
  readonly send: (campaign: Campaign) => Promise<readonly number[]>;
}

export const BATCH = '/v1/external-events:batch';
export const MEBIBYTE = 1024 * 1024;
/** Below the most bytes that one event's properties may have. */
export const PROPERTIES_BYTES = 63 * 1024;

/** Sends the same body some times at once, as a client with several connections does. */
export function sends(
  path: string,
  body: () => string | Uint8Array,
  times: number,
  options: object = {},
): ExpensiveInput['send'] {
  let made: string | Uint8Array | undefined;
  return ({ workspace }) => statuses(times, () => workspace.admin.send(path, (made ??= body()), options));
}

export function gets(times: number, path: (campaign: Campaign) => string): ExpensiveInput['send'] {
  return (campaign) => statuses(times, () => campaign.workspace.admin.get(path(campaign)));
}

export async function statuses(times: number, send: () => Promise<Answer>): Promise<readonly number[]> {
  return (await Promise.all(Array.from({ length: times }, send))).map(({ status }) => status);
}

/** Events of one customer, with properties as large as they may be. */
export async function storeLarge(client: Client, count: number, attributes: () => object): Promise<void> {
  for (let left = count; left > 0; left -= 50) {
    const items = Array.from({ length: Math.min(50, left) }, () =>
      anExternalEvent({ identity: { type: 'EXTERNAL', value: 'large' }, attributes: attributes() }),
    );
    const { status, body } = await client.post(BATCH, { items });
    const refused = status === 200 && body.results.find((result: { status: string }) => result.status !== 'accepted');
    if (status !== 200 || refused) throw new Error(`a batch was refused: ${status} ${JSON.stringify(refused)}`);
  }
}

/** Looks like contact data wherever one begins to read. */
export function contactLike(): object {
  return manyTexts('a.b+1@c.de 0049 176 1234567, ');
}

/** Thirty properties of this text, over and over. */
export function manyTexts(text: string): object {
  const long = text.repeat(Math.floor(2_000 / Buffer.byteLength(text)));
  return Object.fromEntries(Array.from({ length: 30 }, (_unused, index) => [`field${index}`, long]));
}

export function listed(entry: string, count: number): string {
  return Array.from({ length: count }, () => entry).join(',');
}
