import { sharedApp, type SharedApp } from '../support/app';
import { expectEntry, expectRefusals, expectRefusalsBeforeBody, requestOf, WRONG_BODY } from '../support/matrix';
import { operationsOf, type Operation } from '../support/operations';
import { REFUSED_SIGNATURES, signatureMeans, type SignatureMeans } from '../support/refused-signatures';
import { signatureOf } from '../support/signatures';

let service: SharedApp;
let means: SignatureMeans;
let operations: readonly Operation[];

beforeAll(async () => {
  service = await sharedApp();
  means = await signatureMeans(service);
  operations = (await operationsOf(service.url)).filter(({ callers }) => callers === 'signing backend');
});

const columns = Object.entries(REFUSED_SIGNATURES);

describe('every operation that takes signed requests', () => {
  it.each(['ed25519', 'hmac', 'foreign'] as const)('lets in a good one: %s', async (name) => {
    await expectEntry(service.url, operations, (operation) => ({
      headers: signatureOf(means[name], requestOf(operation, { body: WRONG_BODY })),
    }));
  });

  it('lets in a good API key beside a bad signature, which does not count then', async () => {
    await expectEntry(service.url, operations, (operation) => ({
      headers: {
        ...signatureOf({ ...means.ed25519, keyId: 'nobody' }, requestOf(operation, { body: WRONG_BODY })),
        authorization: `Bearer ${means.admin.key ?? ''}`,
      },
    }));
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
