import { Command, InvalidArgumentError } from 'commander';
import { processEnvironment } from '../../platform/config/env';
import type { Console } from '../console';
import { ClientFailure } from '../running-service';
import {
  addServiceOptions,
  firstSet,
  readServiceOptions,
  type Environment,
  type GivenService,
} from '../service-options';
import { stoppingBySignals } from '../stopping';
import { parseFollowed, type FollowedHistory } from './followed-changes';
import { Forwarder } from './forward-event';
import { listen } from './listen';

const EVENT_TYPE_CHARACTERS_MAX = 128;
const EVENT_TYPES_MAX = 50;
/** Each is asked for twice a second. */
const HISTORIES_MAX = 10;

const WORDS = `Forwards new events to an address of your machine, as a webhook would, for development.

It is a client of a running service and needs an API key with the scope events:read, in the environment (CDS_API_KEY) or in a
file. It reads new events and posts them itself, so the service needs no way to this machine. Calls have the body, the headers
and the signature of real ones, by a secret that is written at the start.`;

const AFTER = `
What differs from real calls: events come about a second later, one after the other in the order of receipt, each is sent
once and not again when it fails, no endpoint and no delivery is stored, and events of the time before the start are not
sent. Rules with "when" and "source" are not evaluated. Changes of values have another webhook-id.

The secret is another one at each start, unless CDS_WEBHOOK_SECRET holds one (whsec_…).
Identity and personal properties are masked as the API masks them; --unmask shows them and needs the scope pii:read.
The command goes on when the service was away. Ctrl-C ends it.

Exit code 0: ended by Ctrl-C; 1: it could not go on; 2: called the wrong way.`;

interface GivenOptions extends GivenService {
  readonly forwardTo: string;
  readonly event?: readonly string[];
  readonly changes?: readonly FollowedHistory[];
  readonly unmask?: true;
  readonly printJson?: true;
}

export function webhooksCommand(console: Console): Command {
  const webhooks = new Command('webhooks').description('Webhooks, by way of a running service');
  addServiceOptions(webhooks.command('listen'))
    .summary('Forwards new events to a local address, for development')
    .description(WORDS)
    .requiredOption('--forward-to <url>', 'where calls go, such as http://localhost:3000/hooks', localUrl)
    .option('--event <types>', 'only events of these types, with commas between them (default: all)', eventTypes)
    .option(
      '--changes <history>',
      'also changes of values: <campaign>/participants/<sub>, <campaign>/campaign/<name> or <campaign>/app/<name>; may be repeated',
      histories,
    )
    .option('--unmask', 'show identities and personal properties; each page is recorded')
    .option('--print-json', 'write the body of each call to standard output, a line each')
    .addHelpText('after', AFTER)
    .action((options: GivenOptions) => run(console, options));
  return webhooks;
}

async function run(console: Console, given: GivenOptions): Promise<void> {
  const { unmask = false, event: types = [], changes: followed = [] } = given;
  const may = unmask ? 'read events unmasked (scopes events:read and pii:read)' : 'read events (scope events:read)';
  const environment = processEnvironment();
  const service = await readServiceOptions(given, environment, { command: 'webhooks listen', may });
  const { Clock } = await import('../../platform/values/clock.js');
  const clock = new Clock();
  const stopping = stoppingBySignals();
  try {
    const forwarder = new Forwarder(given.forwardTo, secretIn(environment), () => clock.now());
    await listen(
      { ...service, types, histories: followed, unmask },
      { console, forwarder, stopping, printsBodies: given.printJson === true },
    );
  } finally {
    stopping.dispose();
  }
}

/** Undefined: a new one. Throws `ClientFailure` (exit code 2) for text that is no secret. */
function secretIn(environment: Environment): string | undefined {
  const secret = firstSet(environment['CDS_WEBHOOK_SECRET']);
  if (secret === undefined || /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)) return secret;
  throw new ClientFailure('CDS_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in base64, or be left out.', 2);
}

function localUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url.href;
  throw new InvalidArgumentError('It must be a URL such as http://localhost:3000/hooks, without a password.');
}

/** Called once for each option, with the types before it. */
function eventTypes(text: string, before: readonly string[] = []): readonly string[] {
  const types = [...before, ...text.split(',').map((type) => type.trim())];
  if (types.length > EVENT_TYPES_MAX) throw new InvalidArgumentError(`It takes ${EVENT_TYPES_MAX} types at most.`);
  if (types.every(({ length }) => length >= 1 && length <= EVENT_TYPE_CHARACTERS_MAX)) return types;
  throw new InvalidArgumentError(`Each type must have 1 to ${EVENT_TYPE_CHARACTERS_MAX} characters.`);
}

function histories(text: string, before: readonly FollowedHistory[] = []): readonly FollowedHistory[] {
  const followed = parseFollowed(text);
  if (followed === undefined)
    throw new InvalidArgumentError('It must be <campaign>/participants/<sub>, or a shared value.');
  if (before.length === HISTORIES_MAX)
    throw new InvalidArgumentError(`It can be given ${HISTORIES_MAX} times at most.`);
  return [...before, followed];
}
