import { LastingTrouble } from './lasting-trouble';

const AWAY = 'Events wait for the database: Error ECONNREFUSED';

let now: number;
let lines: string[];
let trouble: LastingTrouble;

beforeEach(() => {
  now = 0;
  lines = [];
  trouble = new LastingTrouble(
    (line) => lines.push(line),
    () => now,
  );
});

it('is told at once, and then once in ten seconds with how often it was met', () => {
  for (now = 0; now <= 20_000; now += 100) trouble.tell(AWAY);
  expect(lines).toEqual([
    AWAY,
    `${AWAY} (since the last such line: 99 times more)`,
    `${AWAY} (since the last such line: 99 times more)`,
  ]);
});

it('is told at once again when it is met after a while', () => {
  trouble.tell(AWAY);
  now = 10_000;
  trouble.tell(AWAY);
  expect(lines).toEqual([AWAY, AWAY]);
});

it('is told once also where another one is met in between', () => {
  const other = 'Events wait for the database: Error ECONNRESET';
  for (const words of [AWAY, other, AWAY, other]) trouble.tell(words);
  expect(lines).toEqual([AWAY, other]);
});
