/** A real OpenID provider on a free port of loopback, in a process of its own (see openid-provider.ts). */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const KEY_TYPES = {
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EC: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};

let handle;
const server = createServer((request, response) => handle(request, response));
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
let keys = [];
rotate(false);

process.on('message', ({ publishOld }) => {
  rotate(publishOld);
  process.send({ rotated: true });
});
// The process must not outlive the tests.
process.on('disconnect', () => process.exit());
process.send({ issuer });

/** A provider's keys are fixed when it is made, so new keys mean a new provider at the same address. */
function rotate(publishOld) {
  const fresh = Object.values(KEY_TYPES).map((make) => ({
    ...make().privateKey.export({ format: 'jwk' }),
    use: 'sig',
    kid: randomUUID(),
  }));
  keys = publishOld ? [...fresh, ...keys] : fresh;
  handle = new Provider(issuer, configuration()).callback();
}

function configuration() {
  return {
    jwks: { keys },
    clients: [
      {
        client_id: 'tests',
        client_secret: 'a secret of the tests',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: ({ oidc }) => resourceServer(oidc.body),
      },
    },
    formats: {
      customizers: {
        jwt: ({ oidc }, _token, { payload }) => void Object.assign(payload, JSON.parse(oidc.body.claims)),
      },
    },
  };
}

/** A resource indicator has to be a URL; an audience can be any text, so it comes beside it. */
function resourceServer({ alg, audience }) {
  const kty = alg === 'ES256' ? 'EC' : 'RSA';
  const { kid } = keys.find((key) => key.kty === kty);
  return { scope: '', audience, accessTokenFormat: 'jwt', accessTokenTTL: 3600, jwt: { sign: { alg, kid } } };
}
