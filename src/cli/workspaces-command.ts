import { Command, InvalidArgumentError } from 'commander';
import { PATH_NAME, PATH_NAME_FORM } from '../platform/values/text/path-name';
import { columns, type Console } from './console';

export function workspacesCommand(console: Console): Command {
  const workspaces = new Command('workspaces').description('Workspaces, which never meet');
  workspaces
    .command('create')
    .description('Makes a workspace and writes its first admin key, which is shown only now')
    .argument('<name>', `its name: ${PATH_NAME_FORM.replace(/^is /, '')}`, workspaceName)
    .action((name: string) => create(console, name));
  workspaces
    .command('list')
    .description('Writes the names of all workspaces, and when each was made')
    .option('--json', 'write one JSON object in each line')
    .action((options: { readonly json?: true }) => list(console, options.json === true));
  return workspaces;
}

async function list({ withinMigrated, out }: Console, asJson: boolean): Promise<void> {
  const { WorkspacesService } = await import('../workspaces/workspaces.service.js');
  const found = await withinMigrated((parts) => parts.get(WorkspacesService).list());
  const rows = found.map(({ name, createdAt }) => ({ name, createdAt: createdAt.toISOString() }));
  if (asJson) {
    rows.forEach((row) => out(JSON.stringify(row)));
    return;
  }
  out(
    columns(
      ['name', 'made'],
      rows.map(({ name, createdAt }) => [name, createdAt]),
    ),
  );
}

async function create({ within, out, say }: Console, name: string): Promise<void> {
  const { WorkspacesService } = await import('../workspaces/workspaces.service.js');
  const made = await within((parts) => parts.get(WorkspacesService).create(name));
  if (made === undefined) {
    throw new Error(`The workspace "${name}" exists. A further key: npm run cds -- keys create --workspace ${name} …`);
  }
  say(`The workspace "${name}" was made. Its first admin key, shown only now:`);
  out(made.key);
}

/** As BOOTSTRAP_WORKSPACE may be. */
export function workspaceName(name: string): string {
  if (!PATH_NAME.test(name)) throw new InvalidArgumentError(`The name ${PATH_NAME_FORM}.`);
  return name;
}
