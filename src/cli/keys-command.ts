import { Command, InvalidArgumentError, Option } from 'commander';
import { API_KEY_DAYS_DEFAULT, API_KEY_DAYS_MAX } from '../api-keys/domain/api-key-lifetime';
import { SCOPES, type Scope } from '../platform/auth/scopes';
import type { Console } from './console';
import { operatorOf } from './operator';
import { workspaceOption } from './workspace-option';

const NAME_CHARACTERS_MAX = 128;
const SOURCE_CHARACTERS_MAX = 128;

interface KeyOptions {
  readonly workspace: string;
  readonly name: string;
  readonly scope: Scope[];
  readonly source?: string[];
  readonly expiresInDays: number;
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
  return keys;
}

async function create({ within, out, say }: Console, options: KeyOptions): Promise<void> {
  const { workspace, name, scope, source, expiresInDays } = options;
  const wanted = { name, scopes: scope, sources: source, expiresInDays };
  const { ApiKeysService } = await import('../api-keys/api-keys.service.js');
  const { key, apiKey } = await within(async (parts) =>
    parts.get(ApiKeysService).create(await operatorOf(parts, workspace), wanted, null),
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
