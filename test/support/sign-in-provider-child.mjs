/** A real OpenID provider for persons who sign in, on a free port of loopback, in a process of its own. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

/** What the test says of persons, by their subject; who signs in next; how the provider answers. */
let state = { persons: {}, next: '', isAway: false, isUserInfoAway: false, isHeld: false, answers: {} };
let provider;

const server = createServer((request, response) => void handle(request, response));
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

process.on('message', (message) => {
  state = { ...state, ...message };
  if (message.redirectUris !== undefined) provider = new Provider(issuer, configuration(message.redirectUris));
  process.send({ done: true });
});
// The process must not outlive the tests.
process.on('disconnect', () => process.exit());
process.send({ issuer });

async function handle(request, response) {
  while (state.isHeld) await once(process, 'message');
  const given = state.answers[request.url];
  if (given !== undefined) sendGiven(given, response);
  else if (state.isAway || (state.isUserInfoAway && request.url === '/me')) response.writeHead(503).end();
  else if (request.url.startsWith('/interaction/')) await interact(request, response);
  else provider.callback()(request, response);
}

function sendGiven({ status, headers, body = {} }, response) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Signs in the person whose turn it is, and consents for them. */
async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const login = prompt.name === 'login' ? { login: { accountId: state.next } } : {};
  const accountId = login.login?.accountId ?? session.accountId;
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  await provider.interactionFinished(request, response, { ...login, consent: { grantId: await grant.save() } });
}

function configuration(redirectUris) {
  return {
    clients: [
      {
        client_id: 'console',
        client_secret: 'a secret of the console',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: redirectUris,
        response_types: ['code'],
      },
    ],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'groups'],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // The use of an old one ends the whole sign-in.
    rotateRefreshToken: true,
    issueRefreshToken: () => state.refreshes !== false,
    findAccount: (_context, accountId) => {
      const person = state.persons[accountId];
      return person === undefined ? undefined : { accountId, claims: () => ({ sub: accountId, ...person }) };
    },
  };
}
