import { sharedApp, type SharedApp } from '../support/app';
import { bearer, expectEntry, expectRefusals, expectRefusalsBeforeBody } from '../support/matrix';
import { operationsOf, type Operation } from '../support/operations';
import { participantMeans, REFUSED_TOKENS, type ParticipantMeans } from '../support/refused-tokens';

let service: SharedApp;
let means: ParticipantMeans;
let operations: readonly Operation[];

beforeAll(async () => {
  service = await sharedApp();
  means = await participantMeans(service);
  operations = (await operationsOf(service.url)).filter(({ callers }) => callers === 'participant');
});

const columns = Object.entries(REFUSED_TOKENS);

describe('every operation for participants', () => {
  it.each(['issuer', 'rsaIssuer', 'secretIssuer', 'foreign'] as const)('lets in a good token: %s', async (name) => {
    await expectEntry(service.url, operations, () => bearer(means[name].token()));
  });

  it('lets in the token of the campaign that is named, whether or not it knows the token already', async () => {
    const good = means.issuer.token({ campaign_id: 'x' });
    for (let time = 0; time < 2; time++) await expectEntry(service.url, operations, () => bearer(good));
  });

  it.each(columns)('refuses %s', async (_name, column) => {
    await expectRefusals(service.url, means, operations, column);
  });

  it.each(columns.filter(([, { bodyNeeded }]) => bodyNeeded !== true))(
    'refuses it before a byte of the body has arrived: %s',
    async (_name, column) => {
      await expectRefusalsBeforeBody(service.url, means, operations, column);
    },
  );
});
