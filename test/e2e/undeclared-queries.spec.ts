import type { Fault } from '../../src/platform/errors/fault';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { aClient, type Answer, aWorkspace, Client, expectProblem } from '../support/client';
import { addressOf, operationsOf, type Callers } from '../support/operations';
import { aTokenIssuer } from '../support/tokens';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe('a query parameter that a route does not have', () => {
  it('is refused by every route of the document, after the credential', async () => {
    const admin = await aClient(service);
    const issuer = await aTokenIssuer(admin, { fields: { defaultCampaignId: 'spring' } });
    const nobody = new Client(service.url, undefined);
    const clients: Readonly<Record<Callers, Client>> = {
      backend: admin,
      'signing backend': admin,
      participant: issuer.participant(),
      anybody: nobody,
    };
    const operations = (await operationsOf(service.url)).filter(({ path }) => path.startsWith('/v1/'));
    expect(operations.length).toBeGreaterThan(80);
    const odd: string[] = [];
    for (const operation of operations) {
      const { name, method, callers, query, body } = operation;
      const parameter = query.includes('dry_run') ? 'dry_rnu' : 'dry_run';
      const send = (client: Client): Promise<Answer> =>
        client.send(`${addressOf(operation)}?${parameter}=true`, body === '' ? undefined : body, { method });
      const { status, body: problem } = await send(clients[callers ?? 'backend']);
      const faults = problem.details?.map((fault: Fault) => `${fault.path} ${fault.code}: ${fault.message}`);
      const expected = `${parameter} unknown_field: ${parameter} is not a field of this query.`;
      if (status !== 422 || !faults.includes(expected)) odd.push(`${name}: ${status} ${faults}`);
      if ((await send(nobody)).status !== 401) odd.push(`${name}: refuses the query of anybody`);
    }
    expect(odd).toEqual([]);
  });

  it('leaves everything as it is', async () => {
    const client = await aClient(service);
    await registerTypes(client);
    const { body } = await client.post('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: 'anna' } }));
    const { profileId } = (await client.get(`/v1/events/${body.event_id}`)).body;
    for (const path of [`profiles/${profileId}:erase`, 'profiles:erase']) {
      const answer = await client.post(`/v1/cdp/${path}?dry_run=true&b=1`, { type: 'EXTERNAL', value: 'anna' });
      expect([answer.status, answer.body.error_code]).toEqual([422, 'validation_failed']);
    }
    const erased = await client.send(`/v1/cdp/profiles/${profileId}:erase?dry_run=true&b=1`, undefined);
    expectProblem(erased, 422, 'validation_failed', ['b unknown_field', 'dry_run unknown_field']);
    expect((await client.get(`/v1/cdp/profiles/${profileId}`)).status).toBe(200);
  });

  it('is looked at after the scope and the content type', async () => {
    const workspace = await aWorkspace(service);
    const path = '/v1/cdp/profiles:lookup?dry_run=true';
    const reader = await workspace.client({ scopes: ['events:read'] });
    expectProblem(await reader.send(path, '{}'), 403, 'insufficient_scope');
    const text = await workspace.admin.send(path, '{}', { headers: { 'content-type': 'text/plain' } });
    expectProblem(text, 415, 'unsupported_media_type');
  });
});
