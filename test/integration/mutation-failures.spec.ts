import { setTimeout as wait } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app';
import { Client, type Answer } from '../support/client';
import { databaseOf, databaseUrl } from '../support/database';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';

const TOTAL = 'state.campaign.total';
const ATTEMPTS_MAX = 50;

let proxy: FaultProxy;
let service: TestApp;
let direct: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  const url = await databaseUrl();
  proxy = await startFaultProxy(url);
  [service, direct] = await Promise.all([startApp({}, proxy.urlOf(databaseOf(url))), startApp({}, url)]);
});
beforeEach(async () => {
  campaign = await aCampaign(direct);
  await campaign.define(TOTAL, 'number');
});
afterAll(async () => {
  await Promise.all([service.stop(), direct.stop()]);
  await proxy.close();
});

const range = (count: number): number[] => Array.from({ length: count }, (_unused, number) => number);
/** A participant who calls the node whose lines to the database get lost. */
const aParticipant = (sub: string): Client => new Client(service.url, campaign.participant({ sub }).key);
const total = async (): Promise<unknown> => (await stateOf(campaign.participant())).campaign.total;
/** Has everything remembered that a request needs apart from its transaction. */
const warm = async (people: readonly Client[]): Promise<void> => {
  for (const each of people) expect((await each.get('/v1/runtime/state')).status).toBe(200);
};

/** The totals that the answers `applied` name, in order. */
const totalsOf = (answers: readonly Answer[]): number[] =>
  answers
    .flatMap(({ body }) => (body.status === 'applied' ? [body.mutations[0].current as number] : []))
    .sort((a, b) => a - b);

describe.each([
  ['the answer to COMMIT is lost', () => proxy.loseNextCommitAnswer()],
  ['the line is lost before COMMIT arrives', () => proxy.loseNextCommit()],
])('when %s', (_what, lose) => {
  it('every mutation without an id is applied once and answered applied', async () => {
    const people = range(20).map((number) => aParticipant(`p-${number}`));
    await warm(people);
    const lost = lose();
    const answers = await Promise.all(people.map((each) => mutate(each, [inc(TOTAL)])));
    await lost;
    expect(totalsOf(answers)).toEqual(range(20).map((number) => number + 1));
    expect(await total()).toBe(20);
  });

  it('of copies of one mutation one is answered applied and the others duplicate', async () => {
    const ann = aParticipant('ann');
    await warm([ann]);
    const lost = lose();
    const answers = await Promise.all(range(20).map(() => mutate(ann, [inc(TOTAL)], { mutation_id: 'm' })));
    await lost;
    expect(answers.map(summary).sort()).toEqual(['200 applied', ...range(19).map(() => '200 duplicate')]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.mutations))).size).toBe(1);
    expect(await total()).toBe(1);
  });

  it('those that are refused are refused, whatever the batch they were in', async () => {
    const people = range(10).map((number) => aParticipant(`p-${number}`));
    await warm(people);
    const lost = lose();
    const answers = await Promise.all(
      people.map((each, number) => mutate(each, [inc(TOTAL), ...(number % 2 === 0 ? [] : [inc('state.campaign.x')])])),
    );
    await lost;
    expect(answers.map(summary)).toEqual(
      range(10).map((number) => (number % 2 === 0 ? '200 applied' : '400 undeclared_variable')),
    );
    expect(await total()).toBe(5);
  });
});

/** Loses one COMMIT, or the answer to one, after another until it is called; in between some requests are answered. */
function keepLosing(answered: () => number): () => Promise<void> {
  let goesOn: boolean = true;
  const goingOn = (): boolean => goesOn;
  const losing = (async () => {
    for (let number = 0; goingOn(); number += 1) {
      await Promise.race([number % 2 === 0 ? proxy.loseNextCommitAnswer() : proxy.loseNextCommit(), wait(100)]);
      const until = answered() + 3;
      while (answered() < until && goingOn()) await wait(5);
    }
  })();
  return async () => {
    goesOn = false;
    await losing;
  };
}

it('under one lost line after another every answer applied counts once, and so does what is sent again', async () => {
  await campaign.define('state.campaign.unnamed', 'number');
  const people = range(16).map((number) => aParticipant(`p-${number}`));
  await warm(people);
  let answered = 0;
  const stopLosing = keepLosing(() => answered);
  const unnamed: Answer[] = [];
  /** Mutations without an id, one after another until one is known to be applied: one whose outcome is unknown may count too. */
  const addUnnamed = async (each: Client): Promise<void> => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const answer = await mutate(each, [inc('state.campaign.unnamed')]);
      unnamed.push(answer);
      if (answer.status !== 503) return;
    }
  };
  await Promise.all(
    people.map(async (each, person) => {
      for (const round of range(6)) {
        if (person % 2 === 0) await addUnnamed(each);
        else expect(await untilAnswered(each, `m-${person}-${round}`)).toMatch(/^200/);
        answered += 1;
      }
    }),
  );
  await stopLosing();
  expect(await total()).toBe(8 * 6);
  const applied = totalsOf(unnamed);
  const unanswered = unnamed.filter(({ status }) => status === 503).length;
  const value = (await stateOf(campaign.participant())).campaign.unnamed as number;
  expect(applied).toHaveLength(8 * 6);
  expect(applied.length + unanswered).toBe(unnamed.length);
  expect(new Set(applied).size).toBe(applied.length);
  expect(value).toBeGreaterThanOrEqual(applied.length);
  expect(value).toBeLessThanOrEqual(applied.length + unanswered);
});

/** An unknown outcome is settled by sending the same again. */
async function untilAnswered(participant: Client, id: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await mutate(participant, [inc(TOTAL)], { mutation_id: id });
    if (answer.status !== 503 || attempt === ATTEMPTS_MAX) return summary(answer);
  }
}

it('answers within three seconds while the database is away, and goes on by itself when it is back', async () => {
  const ann = aParticipant('ann');
  await warm([ann]);
  proxy.setAway(true);
  const asked = performance.now();
  const refused = await mutate(ann, [inc(TOTAL)], { mutation_id: 'm' });
  expect(performance.now() - asked).toBeLessThan(3_000);
  expect([summary(refused), refused.headers.get('retry-after')]).toEqual(['503 unavailable', '1']);
  expect(summary(await ann.get('/v1/runtime/state'))).toBe('503 unavailable');
  proxy.setAway(false);
  expect(summary(await mutate(ann, [inc(TOTAL)], { mutation_id: 'm' }))).toBe('200 applied');
  expect(await total()).toBe(1);
});
