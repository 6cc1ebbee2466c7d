import { startApp, type TestApp } from '../support/app';
import { type IdentityKind, INGEST_FAMILIES } from '../support/builders';
import { aReadyClient, type Client, expectProblem, storedEvent, theReviewEntry } from '../support/client';

let service: TestApp;
let german: TestApp;

beforeAll(async () => {
  service = await startApp();
  german = await startApp({ DEFAULT_PHONE_REGION: 'DE', PLACEHOLDER_IDENTITIES: 'test-user, Walk-In' });
});

afterAll(async () => {
  await service.stop();
  await german.stop();
});

describe.each(INGEST_FAMILIES)(
  'identifiers in the $family family',
  ({ path, anEvent, anIdentity, identityPath, id }) => {
    const send = (client: Client, kind: IdentityKind, value: unknown) =>
      client.post(path, anEvent({ identity: anIdentity(kind, value) }));

    const profileOf = async (client: Client, kind: IdentityKind, value: string): Promise<string> =>
      (await storedEvent(client, await send(client, kind, value))).profileId;

    it.each([
      ['', 'null', 'undefined', 'none', 'nil', 'nan', 'n/a', 'na', 'anonymous', 'guest', 'unknown', '0', '-1', 'true'],
      ['false', '[object object]', '00000000-0000-0000-0000-000000000000'],
      [
        'NULL',
        'Undefined',
        'None',
        'NaN',
        'N/A',
        'Anonymous',
        'GUEST',
        '[object Object]',
        ' null ',
        '   ',
        '\tguest\n',
      ],
    ])('are refused as placeholders that strangers share: %j and so on', async (...values) => {
      const client = await aReadyClient(service);
      for (const kind of ['EXTERNAL', 'EMAIL', 'PHONE', 'DEVICE'] as const) {
        const answers = values.map((value) => send(client, kind, value));
        for (const answer of await Promise.all(answers)) {
          expectProblem(answer, 422, 'validation_failed', [`${identityPath(kind)} placeholder_identity`]);
        }
      }
      expect((await client.get('/v1/events')).body.items).toEqual([]);
    });

    it('are kept in review under the reason placeholder_identity', async () => {
      const client = await aReadyClient(service);
      const event = anEvent({ identity: anIdentity('EXTERNAL', 'guest') });
      await client.post(path, event);
      expect(await theReviewEntry(client)).toMatchObject({
        reason: 'placeholder_identity',
        stage: 'validation',
        externalEventId: event[id],
      });
    });

    it('are refused as placeholders that the operator added, without case, beside the built-in ones', async () => {
      const client = await aReadyClient(german);
      for (const value of ['test-user', 'TEST-USER', 'walk-in', 'Guest']) {
        expectProblem(await send(client, 'EXTERNAL', value), 422, 'validation_failed', [
          `${identityPath('EXTERNAL')} placeholder_identity`,
        ]);
      }
      expect((await send(client, 'EXTERNAL', 'test-user-1')).status).toBe(202);
      expect((await send(await aReadyClient(service), 'EXTERNAL', 'test-user')).status).toBe(202);
    });

    it('are the same person of kind EXTERNAL and DEVICE when they differ in outer white space only, not in case', async () => {
      const client = await aReadyClient(service);
      for (const kind of ['EXTERNAL', 'DEVICE'] as const) {
        const profile = await profileOf(client, kind, 'Customer-1');
        expect(await profileOf(client, kind, '  Customer-1\n')).toBe(profile);
        expect(await profileOf(client, kind, 'customer-1')).not.toBe(profile);
      }
    });

    it('are the same person of kind EMAIL when they differ in case and outer white space only', async () => {
      const client = await aReadyClient(service);
      const profile = await profileOf(client, 'EMAIL', 'jane.doe+shop@example.com');
      expect(await profileOf(client, 'EMAIL', ' Jane.Doe+Shop@EXAMPLE.com ')).toBe(profile);
      for (const other of ['janedoe+shop@example.com', 'jane.doe@example.com']) {
        expect(await profileOf(client, 'EMAIL', other)).not.toBe(profile);
      }
    });

    it('are the same person of kind PHONE however the number is written', async () => {
      const client = await aReadyClient(service);
      const profile = await profileOf(client, 'PHONE', '+4915112345612');
      for (const same of ['+49 151 123 456 12', '+49 (151) 12345-612', ' +49/151/12345612 ']) {
        expect(await profileOf(client, 'PHONE', same)).toBe(profile);
      }
      expect(await profileOf(client, 'PHONE', '+4915112345613')).not.toBe(profile);
    });

    it('are different people of different kinds', async () => {
      const client = await aReadyClient(service);
      const profiles = [
        await profileOf(client, 'EXTERNAL', '+4915112345612'),
        await profileOf(client, 'PHONE', '+4915112345612'),
        await profileOf(client, 'DEVICE', '+4915112345612'),
      ];
      expect(new Set(profiles).size).toBe(3);
    });

    it.each(['0151 12345612', '004915112345612', '15112345612'])(
      'are refused as a phone number without + while no region is set: %s',
      async (number) => {
        const client = await aReadyClient(service);
        expectProblem(await send(client, 'PHONE', number), 422, 'validation_failed', [
          `${identityPath('PHONE')} invalid_phone`,
        ]);
      },
    );

    it('are read as dialled within DEFAULT_PHONE_REGION when they have no +', async () => {
      const client = await aReadyClient(german);
      const profile = await profileOf(client, 'PHONE', '+4915112345612');
      for (const same of ['0151 12345612', '(0151) 123-456-12', '004915112345612']) {
        expect(await profileOf(client, 'PHONE', same)).toBe(profile);
      }
      expect(await profileOf(client, 'PHONE', '+43 664 1234567')).not.toBe(profile);
    });

    it.each(['+1', '+49151', '+4915112345612 ext. 3', 'call me', '+49151123456121234567890', '++4915112345612'])(
      'are refused as a phone number that is not possible: %s',
      async (number) => {
        const client = await aReadyClient(service);
        expectProblem(await send(client, 'PHONE', number), 422, 'validation_failed', [
          `${identityPath('PHONE')} invalid_phone`,
        ]);
      },
    );

    it.each([
      'jane',
      'jane@',
      '@example.com',
      'jane@example..com',
      'jane doe@example.com',
      'a@b.de, c@d.de',
      'Jane <jane@example.com>',
    ])('are refused as an email address that is none: %s', async (address) => {
      const client = await aReadyClient(service);
      expectProblem(await send(client, 'EMAIL', address), 422, 'validation_failed', [
        `${identityPath('EMAIL')} format`,
      ]);
    });
  },
);
