import { Command } from 'commander';
import { VERSION } from '../platform/config/version';
import { backupCommand } from './backup-command';
import type { Console } from './console';
import { applyCommand, exportCommand, planCommand } from './configuration/configuration-commands';
import { dbCommand } from './db-command';
import { eventsCommand } from './events/events-command';
import { issuersCommand } from './issuers-command';
import { keysCommand } from './keys-command';
import { reactionsCommand } from './reactions/reactions-command';
import { restoreCommand } from './restore-command';
import { secretsCommand } from './secrets-command';
import { stateCommand } from './state/state-command';
import { tokensCommand } from './tokens-command';
import { webhooksCommand } from './webhooks/webhooks-command';
import { workspacesCommand } from './workspaces-command';

const WORDS = `Works on the database of the service: the embedded one in DATA_DIR, also while a service runs on it, or DATABASE_URL.
Those that send or export events, export state, backfill reactions or listen to webhooks are clients of a running service instead.
Only what was asked for is written to standard output.`;

const COMMANDS = [
  workspacesCommand,
  keysCommand,
  issuersCommand,
  tokensCommand,
  eventsCommand,
  stateCommand,
  reactionsCommand,
  webhooksCommand,
  exportCommand,
  planCommand,
  applyCommand,
  backupCommand,
  restoreCommand,
  secretsCommand,
  dbCommand,
];

/** The command `cds` (contract section 9). Refusals of its own parsing are thrown as CommanderError. */
export function cliProgram(console: Console): Command {
  const program = new Command('cds')
    .description(`Administers the Campaign Data Service. ${WORDS}`)
    .configureOutput({
      writeOut: (text) => console.out(text.trimEnd()),
      writeErr: (text) => console.say(text.trimEnd()),
    })
    .version(VERSION, '-V, --version', 'write the version')
    .exitOverride()
    .showHelpAfterError('See "cds --help".');
  for (const command of COMMANDS) {
    program.addCommand(inherited(command(console), program));
  }
  return program;
}

/** Commander gives its settings to subcommands that it makes, not to those that it is given. */
function inherited(command: Command, program: Command): Command {
  for (const [each, path] of [[command, command.name()] as const, ...command.commands.map(pathOf(command))]) {
    each.copyInheritedSettings(program);
    // One line more than the error: all of the help would push it out of sight.
    each.showHelpAfterError(`See "cds ${path} --help".`);
  }
  return command;
}

function pathOf(command: Command): (each: Command) => readonly [Command, string] {
  return (each) => [each, `${command.name()} ${each.name()}`];
}
