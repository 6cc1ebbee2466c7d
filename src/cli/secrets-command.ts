import { Command } from 'commander';
import type { Console } from './console';

const WORDS = `Takes the key in force (SECRETS_KEY, or secrets.key in DATA_DIR) as the one of this database, because the former
one is lost for good. Without --accept-loss it only says what would be lost.`;

export function secretsCommand(console: Console): Command {
  const secrets = new Command('secrets').description('The key that secrets are encrypted under (SECRETS_KEY)');
  secrets
    .command('accept-key')
    .summary('Goes on with another key than before, without what the former one protects')
    .description(WORDS)
    .option('--accept-loss', 'do it')
    .action((options: { acceptLoss?: true }) => acceptKey(console, options.acceptLoss === true));
  return secrets;
}

async function acceptKey({ onDatabase, say }: Console, isAccepted: boolean): Promise<void> {
  const { assertMigrated, migrate } = await import('../platform/postgres/schema/migrate.js');
  const { SecretBox } = await import('../platform/secrets/secret-box.js');
  const { checking, keyInForce, presentKey } = await import('../server/secrets-key.js');
  await onDatabase(async (database, settings) => {
    await (isAccepted ? migrate : assertMigrated)(database);
    await checking(database, async (check) => {
      const secretsKey = isAccepted ? await keyInForce(settings) : await presentKey(settings);
      const box = secretsKey === undefined ? undefined : new SecretBox({ secretsKey });
      if (box !== undefined && (await check.fits(box))) {
        say('The key in force is the one that this database was used with. Nothing was changed.');
        return;
      }
      const losses = await check.losses();
      const words = losses.map(({ count, loss }) => `  ${count} ${loss}`).join('\n');
      const what =
        losses.length === 0 ? 'Nothing that the former key protects is left.' : `Lost with the former key:\n${words}`;
      if (!isAccepted)
        throw new Error(`${what}\nNothing was changed. To go on: npm run cds -- secrets accept-key --accept-loss`);
      if (box === undefined) throw new Error('There is no key to accept: set SECRETS_KEY.');
      await check.accept(box);
      say(`${what}\nThe key in force is the one of this database now. Start every process with it.`);
    });
  });
}
