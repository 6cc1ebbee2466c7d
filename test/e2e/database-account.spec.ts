import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { type Answer, expectProblem } from '../support/client';
import { freshDatabaseUrl, withClient } from '../support/database';
import { aCampaign, inc, mutate, type Campaign } from '../support/runtime';
import { until } from '../support/until';

const ROLE = `cds_account_${process.pid}`;

let url: string;
let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('account');
  await asOperator(`CREATE ROLE ${ROLE} LOGIN SUPERUSER`);
  service = await startApp({}, asRole(url), [], { processesEvents: true });
  campaign = await aCampaign({ url: service.url, databaseUrl: url });
  await campaign.define('state.user.points', 'number');
});

afterAll(async () => {
  await service.stop();
  await asOperator(`REASSIGN OWNED BY ${ROLE} TO CURRENT_USER`);
  await asOperator(`DROP ROLE ${ROLE}`);
});

function asRole(address: string): string {
  return address.replace(/(?<=^\w+:\/\/)[^:@]*/, ROLE);
}

async function asOperator(statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement));
}

/** As while the password of the account is changed before the service knows the new one. */
async function lockOut(): Promise<void> {
  await asOperator(`ALTER ROLE ${ROLE} NOLOGIN`);
  await asOperator(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`);
}

const letIn = (): Promise<void> => asOperator(`ALTER ROLE ${ROLE} LOGIN`);

const CALLS: Readonly<Record<string, () => Promise<Answer>>> = {
  'an event': () => campaign.workspace.admin.post('/v1/external-events', anExternalEvent()),
  'a batch': () => campaign.workspace.admin.post('/v1/external-events:batch', { items: [anExternalEvent()] }),
  'a list': () => campaign.workspace.admin.get('/v1/events'),
  'a mutation': () => mutate(campaign.participant(), [inc('state.user.points')]),
};

it('answers 503 while the database does not let the account of the service in, and goes on by itself afterwards', async () => {
  for (const call of Object.values(CALLS)) expect((await call()).status).toBeLessThan(500);
  const { admin } = campaign.workspace;
  const { body: accepted } = await admin.post('/v1/external-events', anExternalEvent());
  await lockOut();
  try {
    for (let turn = 0; turn < 2; turn += 1) {
      for (const call of Object.values(CALLS)) {
        const answer = await call();
        expectProblem(answer, 503, 'unavailable');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
    }
  } finally {
    await letIn();
  }
  for (const call of Object.values(CALLS)) await until(async () => (await call()).status < 500);
  await until(async () => (await admin.get(`/v1/events/${accepted.event_id}`)).body.processing.state === 'processed');
});
