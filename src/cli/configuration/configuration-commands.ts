import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import type { Console } from '../console';
import { ClientFailure } from '../running-service';
import { operatorOf, workspaceOption } from '../workspace-scope';
import type { KindPlan } from './configuration-plan';
import configurationSchema from './configuration.schema.json';
import type { WorkspaceConfiguration } from './workspace-configuration';

const KINDS = 'event types, variables, reactions, webhooks, issuers and retention';

const PLAN_AFTER = `
+ is created, ~ is changed, - is archived (--prune). What the file does not name stays, and so do kinds that it does not name.
Line and column of everything that is wrong with the file are shown.

Exit code 0: nothing would change; 2: something would; 1: error, also a wrong option.`;

const APPLY_AFTER = `
Each kind is changed in one transaction, or not at all; what --prune archives comes last. It is refused when a record was changed
after the plan was made. After a refusal or a kill, run it again: it does what is left.

Exit code 0: done, also if there was nothing to do; 1: refused or failed; 2: called the wrong way.`;

interface PlanOptions {
  readonly workspace: string;
  readonly file: string;
  readonly prune?: true;
  readonly json?: true;
}

interface GivenApplyOptions extends PlanOptions {
  readonly allowBreaking?: true;
  readonly yes?: true;
}

export function exportCommand(console: Console): Command {
  return new Command('export')
    .summary('Writes the configuration of a workspace as YAML')
    .description(`Writes ${KINDS} of a workspace as YAML, without secrets, in an order that is always the same.`)
    .addOption(workspaceOption())
    .option('--schema', 'write the JSON Schema of the file instead, for editors')
    .action((options: { readonly workspace: string; readonly schema?: true }) => exportAll(console, options));
}

export function planCommand(console: Console): Command {
  return addFileOptions(new Command('plan'))
    .summary('Writes what a file of configuration would change')
    .description(`Writes what "cds apply" would change: ${KINDS}. Changes nothing.`)
    .addHelpText('after', PLAN_AFTER)
    .action((options: PlanOptions) => plan(console, options));
}

export function applyCommand(console: Console): Command {
  return addFileOptions(new Command('apply'))
    .summary('Changes a workspace to what a file of configuration says')
    .description(`Shows what "cds plan" shows, asks, and changes ${KINDS} of a workspace.`)
    .option('--allow-breaking', 'register versions of event types that break events which were valid before')
    .option('--yes', 'do not ask')
    .addHelpText('after', APPLY_AFTER)
    .action((options: GivenApplyOptions) => apply(console, options));
}

function addFileOptions(command: Command): Command {
  return command
    .addOption(workspaceOption())
    .requiredOption('-f, --file <path>', 'the file, as "cds export" writes it; - for standard input')
    .option('--prune', 'archive what kinds in the file have besides: deprecate, archive, disable, or delete (issuers)')
    .option('--json', 'write the changes as JSON');
}

async function exportAll(console: Console, { workspace, schema }: { workspace: string; schema?: true }): Promise<void> {
  if (schema) {
    console.out(JSON.stringify(configurationSchema, null, 2));
    return;
  }
  const text = await withConfiguration(console.withinMigrated, workspace, (configuration) => configuration.export());
  console.out(text.trimEnd());
}

async function plan(console: Console, options: PlanOptions): Promise<void> {
  const { readConfigurationFile } = await import('./configuration-file.js');
  const file = await readConfigurationFile(options.file);
  const plans = await withConfiguration(console.withinMigrated, options.workspace, (configuration) =>
    configuration.plan(file, { prunes: options.prune === true }),
  );
  if (await show(console, plans, options)) throw new ClientFailure(await summaryOf(plans), 2);
}

async function apply(console: Console, options: GivenApplyOptions): Promise<void> {
  const { readConfigurationFile } = await import('./configuration-file.js');
  const { changesWords } = await import('./plan-words.js');
  const file = await readConfigurationFile(options.file);
  const { workspace, prune = false, allowBreaking = false, yes = false } = options;
  await withConfiguration(console.within, workspace, async (configuration) => {
    const plans = await configuration.plan(file, { prunes: prune });
    if (!(await show(console, plans, options))) return;
    assertAllowed(plans, allowBreaking);
    console.say(await summaryOf(plans));
    if (!yes) await confirm(options.file, workspace);
    await configuration.apply(plans, {
      allowBreaking,
      done: ({ kind, changes }) => console.say(`${kind.name}: ${changesWords(changes.length)} applied.`),
    });
  });
}

async function withConfiguration<Result>(
  within: Console['within'],
  workspace: string,
  work: (configuration: WorkspaceConfiguration) => Promise<Result>,
): Promise<Result> {
  const { WorkspaceConfiguration: Configuration } = await import('./workspace-configuration.js');
  return within(async (parts) => work(new Configuration(parts, await operatorOf(parts, workspace))));
}

/** Writes the changes; false: there are none. */
async function show({ out, say }: Console, plans: readonly KindPlan[], options: PlanOptions): Promise<boolean> {
  const { planJson, planLines } = await import('./plan-words.js');
  const lines = planLines(plans);
  if (options.json) out(JSON.stringify(planJson(options.workspace, plans)));
  else if (lines.length > 0) out(lines.join('\n'));
  if (lines.length === 0) say(`Nothing to change: the workspace "${options.workspace}" has what the file says.`);
  return lines.length > 0;
}

async function summaryOf(plans: readonly KindPlan[]): Promise<string> {
  const { planSummary } = await import('./plan-words.js');
  return planSummary(plans);
}

function assertAllowed(plans: readonly KindPlan[], allowsBreaking: boolean): void {
  const breaking = plans.flatMap(({ changes }) => changes.filter(({ breaks }) => breaks.length > 0));
  if (allowsBreaking || breaking.length === 0) return;
  const words = `Events that were valid would be refused by ${breaking.map(({ key }) => key).join(', ')}.`;
  throw new ClientFailure(
    `${words} Nothing was changed. Make the change compatible, or apply it with --allow-breaking.`,
  );
}

/** Throws `ClientFailure` unless the answer is yes. */
async function confirm(file: string, workspace: string): Promise<void> {
  if (file === '-' || !process.stdin.isTTY) {
    throw new ClientFailure('Nobody can be asked here, and nothing was changed. Apply it with --yes.');
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`Apply this to the workspace "${workspace}"? Only "yes" does: `);
    if (answer.trim() !== 'yes') throw new ClientFailure('Nothing was changed.');
  } finally {
    prompt.close();
  }
}
