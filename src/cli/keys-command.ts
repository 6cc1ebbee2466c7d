import type { INestApplicationContext } from '@nestjs/common';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  API_KEY_DAYS_DEFAULT,
  API_KEY_DAYS_MAX,
  API_KEY_STATES,
  type ApiKeyState,
} from '../api-keys/domain/api-key-lifetime';
import type { ApiKey } from '../api-keys/entities/api-key.entity';
import { readable } from './foreign-data';
import { SCOPES, type Scope } from '../platform/auth/scopes';
import { columns, type Console } from './console';
import { operatorOf, workspaceOption } from './workspace-scope';

const NAME_CHARACTERS_MAX = 128;
/** Read at once. */
const PAGE_KEYS = 200;
const SOURCE_CHARACTERS_MAX = 128;

interface KeyOptions {
  readonly workspace: string;
  readonly name: string;
  readonly scope: Scope[];
  readonly source?: string[];
  readonly expiresInDays: number;
}

interface ListOptions {
  readonly workspace: string;
  readonly state?: ApiKeyState;
  readonly json?: true;
}

export function keysCommand(console: Console): Command {
  const keys = new Command('keys').description('API keys of backends');
  keys
    .command('create')
    .description('Makes an API key and writes it; it is shown only now')
    .addOption(workspaceOption())
    .requiredOption('--name <words>', 'what the key is for', upTo(NAME_CHARACTERS_MAX))
    .addOption(new Option('--scope <scope...>', 'what the key may do').choices(SCOPES).makeOptionMandatory())
    .option('--source <source...>', 'the only event sources that it may send (default: all)', sources)
    .option('--expires-in-days <days>', `1 to ${API_KEY_DAYS_MAX}`, days, API_KEY_DAYS_DEFAULT)
    .action((options: KeyOptions) => create(console, options));
  keys
    .command('list')
    .description('Writes the API keys of a workspace, newest first, without what they are')
    .addOption(workspaceOption())
    .addOption(new Option('--state <state>', 'only those in this state').choices(API_KEY_STATES))
    .option('--json', 'write one JSON object in each line')
    .action((options: ListOptions) => list(console, options));
  keys
    .command('revoke')
    .description('Takes an API key out of use at once, for good')
    .argument('<key>', 'its id, or its hint where only one key has that')
    .addOption(workspaceOption())
    .action((key: string, options: { readonly workspace: string }) => revoke(console, key, options.workspace));
  return keys;
}

async function list({ withinMigrated, out }: Console, { workspace, state, json }: ListOptions): Promise<void> {
  const { Clock } = await import('../platform/values/clock.js');
  const { ApiKeyDto } = await import('../api-keys/dto/api-key.dto.js');
  const keys = await withinMigrated(async (parts) => {
    const now = parts.get(Clock).now();
    const found = await keysOf(parts, (await operatorOf(parts, workspace)).tenantId, { state, now });
    return found.map((key) => ApiKeyDto.of(key, now));
  });
  if (json) {
    keys.forEach((key) => out(JSON.stringify(key)));
    return;
  }
  const rows = keys.map(({ id, hint, state: current, expiresAt, scopes, name }) => {
    return [id, hint, current, expiresAt?.toISOString() ?? 'never', scopes.join(','), readable(name)];
  });
  out(columns(['id', 'hint', 'state', 'expires', 'scopes', 'name'], rows));
}

/** A hint has few characters, and several keys may share one; names are not unique at all. */
async function revoke({ within, say }: Console, key: string, workspace: string): Promise<void> {
  const { Clock } = await import('../platform/values/clock.js');
  const { ApiKeysService } = await import('../api-keys/api-keys.service.js');
  const revoked = await within(async (parts) => {
    const operator = await operatorOf(parts, workspace);
    const now = parts.get(Clock).now();
    const keys = await keysOf(parts, operator.tenantId, { state: undefined, now });
    return parts.get(ApiKeysService).revoke(operator, idOf(keys, key, workspace), null);
  });
  say(`The key ${revoked.id} (${readable(revoked.name)}) of the workspace "${workspace}" is revoked.`);
}

function idOf(keys: readonly ApiKey[], key: string, workspace: string): string {
  const found = keys.filter(({ id, hint }) => id === key.toLowerCase() || hint === key);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.id;
  if (only === undefined) {
    throw new Error(
      `No key of the workspace "${workspace}" has this id or hint. See: npm run cds -- keys list -w ${workspace}`,
    );
  }
  throw new Error(`${found.length} keys have this hint. Name one by its id: ${found.map(({ id }) => id).join(', ')}.`);
}

async function keysOf(
  parts: INestApplicationContext,
  tenantId: string,
  filter: { readonly state: ApiKeyState | undefined; readonly now: Date },
): Promise<ApiKey[]> {
  const { ApiKeyReader } = await import('../api-keys/api-key-reader.js');
  const { idPageStart } = await import('../platform/pagination/id-key.js');
  const reader = parts.get(ApiKeyReader);
  const keys: ApiKey[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await reader.list(tenantId, filter, idPageStart(cursor), PAGE_KEYS);
    keys.push(...page.rows);
    cursor = page.nextCursor;
  }
  return keys;
}

async function create({ within, out, say }: Console, options: KeyOptions): Promise<void> {
  const { workspace, name, scope, source, expiresInDays } = options;
  const request = { name, scopes: scope, sources: source, expiresInDays };
  const { ApiKeysService } = await import('../api-keys/api-keys.service.js');
  const { key, apiKey } = await within(async (parts) =>
    parts.get(ApiKeysService).create(await operatorOf(parts, workspace), request, null),
  );
  say(`The key ${apiKey.id} of the workspace "${workspace}" was made. Shown only now:`);
  out(key);
}

/** Called once for each source, with those before it. */
function sources(source: string, before: readonly string[] = []): string[] {
  return [...before, upTo(SOURCE_CHARACTERS_MAX)(source)];
}

function days(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= API_KEY_DAYS_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${API_KEY_DAYS_MAX}.`);
}

function upTo(charactersMax: number): (text: string) => string {
  return (text) => {
    if (text.length >= 1 && text.length <= charactersMax) return text;
    throw new InvalidArgumentError(`It must have 1 to ${charactersMax} characters.`);
  };
}
