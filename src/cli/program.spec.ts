import { CommanderError } from 'commander';
import { version } from '../../package.json';
import { cliProgram } from './program';

async function said(args: readonly string[]): Promise<string> {
  const words: string[] = [];
  const program = cliProgram({
    out: (text) => words.push(text),
    say: (text) => words.push(text),
    within: () => Promise.reject(new Error('It went on to the database.')),
    withinMigrated: () => Promise.reject(new Error('It went on to the database.')),
    onDatabase: () => Promise.reject(new Error('It went on to the database.')),
  });
  await expect(program.parseAsync(['node', 'cds', ...args])).rejects.toBeInstanceOf(CommanderError);
  return words.join('\n');
}

it.each<[string, RegExp]>([
  ['keys create --name x', /--scope/],
  ['keys create --scope admin', /--name/],
  ['keys create --name x --scope everything', /everything/],
  ['keys create --name x --scope admin --expires-in-days 367', /1 to 366/],
  ['keys create --name x --scope admin --expires-in-days 1.5', /1 to 366/],
  [`keys create --name x --scope admin --source ${'s'.repeat(129)}`, /1 to 128/],
  ['keys create -w a/b --name x --scope admin', /letters/],
  ['workspaces create', /name/],
  ['workspaces create -x', /unknown option/],
  ['tokens mint', /--sub/],
  ['tokens mint --sub x --expires-in long', /366d/],
  ['tokens mint --sub x --expires-in 0s', /366d/],
  ['tokens mint --sub x --expires-in 367d', /366d/],
  ['issuers create --development --issuer x', /cannot be used with/],
  ['state export', /--campaign/],
  ['state export --campaign x --format xml', /ndjson, csv/],
  ['reactions backfill', /reaction/],
  ['reactions backfill x --campaign y --from z --to z --events-per-second 0', /1 to 10000/],
  ['webhooks listen', /--forward-to/],
  ['webhooks listen --forward-to localhost:3000', /URL such as/],
  ['webhooks listen --forward-to http://localhost:3000 --event a,,b', /1 to 128/],
  ['backup', /file/],
  ['restore --force', /file/],
  ['keys revoke', /key/],
  ['keys list --state gone', /ACTIVE/],
  ['tokens mint --sub x --campaign a/b', /letters/],
  ['nonsense', /unknown command/],
  ['', /Usage: cds/],
])('refuses "%s" before it touches the database, and says what is wrong', async (args, words) => {
  expect(await said(args.split(' ').filter(Boolean))).toMatch(words);
});

it.each<[string, string]>([
  ['keys create --name x', 'See "cds keys create --help".'],
  ['events send', 'See "cds events send --help".'],
  ['events send a b', 'See "cds events send --help".'],
  ['backup', 'See "cds backup --help".'],
  ['nonsense', 'See "cds --help".'],
])('answers "%s" with one line and where the help is', async (args, where) => {
  const lines = (await said(args.split(' '))).split('\n');
  expect(lines).toEqual([expect.stringMatching(/^error: /), where]);
});

it.each([[''], [' '], ['\u200b'], ['x'.repeat(257)], ['a\0b']])(
  'signs no token for a subject that the service would refuse: %j',
  async (subject) => {
    expect(await said(['tokens', 'mint', '--sub', subject])).toMatch(/--sub.*(?:empty|1 to 256)/);
  },
);

it('writes its version, which is that of the package', async () => {
  expect(await said(['--version'])).toBe(version);
});
