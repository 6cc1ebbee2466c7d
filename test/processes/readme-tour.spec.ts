import { blocksOf, ReadersShell } from '../support/documented-commands';
import { freshDatabaseUrl } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

const START_MS_MAX = 300_000;
const TOUR_MS_MAX = 300_000;
const TOUR_SECTIONS = [
  'An event with a registered type',
  'Your first variable, your first mutation',
  'Your first reaction',
  'Your first customer',
  'When something is wrong',
  'A key for every integration',
];
/** The tour goes on where the README ends, in the same shell. */
const blocks = [...blocksOf('README.md', ['Your first event']), ...blocksOf('docs/tour.md', TOUR_SECTIONS)];

let service: ServiceProcess;
let shell: ReadersShell;

beforeAll(async () => {
  const environment = {
    DATABASE_URL: await freshDatabaseUrl('readme_tour'),
    SECRETS_KEY: 'readme-tour-'.padEnd(40, 'x'),
  };
  service = await startServiceProcess(environment);
  shell = new ReadersShell(service.url, service.adminKey, environment);
}, START_MS_MAX);

afterAll(async () => {
  shell.close();
  await service.stop();
}, START_MS_MAX);

describe('the first event of the README, and the tour', () => {
  it('have these commands and answers', () => {
    const count = (section: string): string => {
      const own = blocks.filter((block) => block.section === section);
      return `${own.length} blocks, ${own.filter(({ answer }) => answer !== undefined).length} answers`;
    };
    expect(Object.fromEntries(blocks.map(({ section }) => [section, count(section)]))).toEqual({
      'Your first event': '2 blocks, 2 answers',
      'An event with a registered type': '1 blocks, 1 answers',
      'Your first variable, your first mutation': '3 blocks, 3 answers',
      'Your first reaction': '4 blocks, 3 answers',
      'Your first customer': '2 blocks, 2 answers',
      'When something is wrong': '3 blocks, 3 answers',
      'A key for every integration': '1 blocks, 0 answers',
    });
  });

  it(
    'work as they are written: each command gets the answer below it',
    async () => {
      for (const block of blocks) await shell.follow(block);
    },
    TOUR_MS_MAX,
  );

  it('add nothing when the first event and the mutation are sent again', async () => {
    const again = async (commands: string): Promise<any> => JSON.parse((await shell.run(commands)).at(-1) ?? '');
    const sent = (words: string): string => blocks.find(({ commands }) => commands.includes(words))?.commands ?? '';
    expect(await again(sent('"order-1"'))).toEqual({ status: 'duplicate', original_event_id: expect.any(String) });
    expect(await again(sent('checkout-4711'))).toEqual({
      status: 'duplicate',
      mutations: [{ path: 'state.user.points', previous: 100, current: 110 }],
    });
  });
});
