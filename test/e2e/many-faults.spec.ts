import { sharedApp, type SharedApp } from '../support/app';
import { INGEST_FAMILIES, registerTypes } from '../support/builders';
import { aClient, aReadyClient, aWorkspace, expectProblem } from '../support/client';
import { withClient } from '../support/database';
import { aCampaign } from '../support/runtime';

const FAULTS_MAX = 1_000;
const LISTED_OF_ONE_MAX = 100;

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const unknownFields = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_unused, n) => [`u${n}`, n]));

const listedIn = (results: readonly any[]): number => results.flatMap(({ details = [] }) => details).length;

describe.each(INGEST_FAMILIES)(
  'the faults of the $family family',
  ({ batchPath, path, anEvent, anEventWith, properties }) => {
    it('of a batch are a thousand at most in all, and each item tells its first and how many more it has', async () => {
      const client = await aReadyClient(service);
      const items = Array.from({ length: 1_000 }, () => unknownFields(200));
      const { status, body } = await client.post(batchPath, { items });
      expect([status, body.results.length, listedIn(body.results)]).toEqual([200, 1_000, FAULTS_MAX]);
      expect(JSON.stringify(body).length).toBeLessThan(1024 * 1024);
      for (const [index, { status: result, error_code: code, message, details }] of body.results.entries()) {
        expect([result, code, details[0].path]).toEqual(['error', 'validation_failed', `items[${index}].source`]);
        expect(message).toMatch(/^source is required\. \(and 20\d more faults\)$/);
      }
    });

    it('of a batch go to the first items that have many, and one is left for each of the others', async () => {
      const client = await aReadyClient(service);
      const wrong = Array.from({ length: 30 }, () => anEvent(unknownFields(200)));
      const items = [...wrong, ...Array.from({ length: 470 }, () => anEvent()), anEvent({ source: '' })];
      const { body } = await client.post(batchPath, { items });
      const listed = body.results.map(({ details = [] }: any) => details.length);
      expect([listed[0], listed[1], listed.at(-1)]).toEqual([LISTED_OF_ONE_MAX, LISTED_OF_ONE_MAX, 1]);
      expect(listedIn(body.results)).toBeLessThanOrEqual(FAULTS_MAX);
      expect(body.results[0].details.at(-1)).toEqual({
        path: 'items[0]',
        code: 'too_many_faults',
        message: 'There are 101 more faults that are not listed; correct these first.',
      });
      expect(body.results[0].message).toBe('u0 is not a field of this body. (and 199 more faults)');
    });

    it('are kept in review as they are listed', async () => {
      const { admin, tenantId } = await aWorkspace(service);
      await registerTypes(admin);
      await admin.post(batchPath, {
        items: Array.from({ length: 1_000 }, (_unused, n) => ({ n, ...unknownFields(50) })),
      });
      const { rows } = await withClient(service.databaseUrl, (database) =>
        database.query<{ entries: string; faults: string }>(
          `SELECT count(*) AS entries, sum(jsonb_array_length(details)) AS faults FROM review_entries WHERE tenant_id = $1`,
          [tenantId],
        ),
      );
      expect(rows).toEqual([{ entries: '1000', faults: String(FAULTS_MAX) }]);
    });

    it('have paths and messages of bounded length', async () => {
      const client = await aReadyClient(service);
      const name = '"<name>"'.repeat(50);
      const deep = `${`{${JSON.stringify(name)}:`.repeat(8)}1e999${'}'.repeat(8)}`;
      const text = JSON.stringify(anEventWith('PUT HERE')).replace('"PUT HERE"', () => deep);
      const answer = await client.send(path, text);
      expectProblem(answer, 422, 'validation_failed');
      for (const { path: at, message } of answer.body.details) {
        expect(at.startsWith(properties)).toBe(true);
        expect([at.length <= 257, message.length <= 512]).toEqual([true, true]);
      }
      expect(answer.body.message.length).toBeLessThanOrEqual(512);
    });
  },
);

describe('the faults of any other body', () => {
  it.each([
    ['/v1/cdp/event-types', LISTED_OF_ONE_MAX],
    ['/v1/cdp/event-types:check', LISTED_OF_ONE_MAX],
    ['/v1/campaigns/spring/reactions:define', FAULTS_MAX],
    ['/v1/campaigns/spring/variables:define', FAULTS_MAX],
    ['/v1/api-keys', FAULTS_MAX],
    ['/v1/jwt-issuers', FAULTS_MAX],
    ['/v1/service-credentials', FAULTS_MAX],
  ])('are listed up to a limit, and the last one says how many more there are: %s', async (path, most) => {
    const client = await aClient(service);
    const answer = await client.post(path, unknownFields(5_000));
    expectProblem(answer, 422, 'validation_failed');
    const { details, message } = answer.body;
    expect(details).toHaveLength(most + 1);
    const more = Number(/^There are (\d+) more faults/.exec(details.at(-1).message)?.[1]);
    const all = Number(/\(and (\d+) more faults\)$/.exec(message)?.[1]);
    expect(more).toBeGreaterThanOrEqual(5_000 - most);
    expect(all).toBe(more + most - 1);
  });

  it('are listed up to a limit: a mutation and its operations', async () => {
    const campaign = await aCampaign(service);
    const operations = Array.from({ length: 100 }, () => unknownFields(50));
    for (const body of [unknownFields(5_000), { ops: operations }]) {
      const answer = await campaign.participant().post('/v1/runtime/state:mutate', body);
      expectProblem(answer, 422, 'validation_failed');
      expect(answer.body.details).toHaveLength(FAULTS_MAX + 1);
      expect(answer.body.details.at(-1)).toMatchObject({ path: '', code: 'too_many_faults' });
    }
  });
});
