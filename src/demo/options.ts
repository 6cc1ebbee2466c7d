import { parseArgs } from 'node:util';
import { checkKey, checkUrl, DEFAULT_URL, firstSet } from '../cli/service-options';
import { ClientFailure } from '../cli/running-service';

/** Where the demo sends its events, and how. */
export interface DemoOptions {
  readonly url: string;
  readonly key: string;
  /** Events in one request. */
  readonly batch: number;
  /** Requests under way at a time. */
  readonly concurrency: number;
}

export const USAGE = `Usage: npm run demo -- [--url URL] [--key KEY] [--batch N] [--concurrency N]

Sends the CDNOW sample (6,919 purchases) to a running service, twice, lets a campaign ("cdnow-demo") add them up, and prints
what the service made of it.

  --url URL          address of the service (CDS_URL, default http://127.0.0.1:3000)
  --key KEY          an admin key (CDS_API_KEY, which other users of this machine cannot see)
  --batch N          events in one request (default 200)
  --concurrency N    requests under way at a time (default 2)`;

const NO_KEY = `The demo needs an admin key of the service.

  - The service prints one when it starts for the first time ("Admin key of the new workspace ...").
  - Or start it with BOOTSTRAP_ADMIN_KEY set to 32 to 200 characters of your choice, and use those.

Then: CDS_API_KEY=<key> npm run demo        (or: npm run demo -- --key <key>)`;

/** As many as a service can be configured to take. */
const BATCH_MAX = 10_000;
/** Enough to load any service; beyond it sockets run out before anything gets faster. */
const CONCURRENCY_MAX = 64;

/** Undefined: the caller wants to read the usage. Throws `ClientFailure` (exit code 2) for invalid options. */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): DemoOptions | undefined {
  const given = parse(args);
  if (given.help) return undefined;
  return {
    url: checkUrl(firstSet(given.url, environment['CDS_URL']) ?? DEFAULT_URL),
    key: checkKey(firstSet(given.key, environment['CDS_API_KEY']), NO_KEY),
    batch: checkCount('--batch', given.batch, BATCH_MAX),
    concurrency: checkCount('--concurrency', given.concurrency, CONCURRENCY_MAX),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        key: { type: 'string' },
        batch: { type: 'string', default: '200' },
        concurrency: { type: 'string', default: '2' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    throw new ClientFailure(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, 2);
  }
}

function checkCount(option: string, text: string, max: number): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) throw new ClientFailure(`${option} must be a whole number from 1 to ${max}.`, 2);
  return count;
}
