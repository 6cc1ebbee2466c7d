import { createHmac } from 'node:crypto';
import { Buffer } from 'node:buffer';

const SECRET = 'a secret of the benchmark that participants’ tokens are signed with';
const DAY_SECONDS = 24 * 60 * 60;

/** A campaign with a counter, and tokens of its participants. */
export async function openCampaign(service, { participants }) {
  const issuer = { issuer: 'https://bench.example.com', audience: 'bench', algorithms: ['HS256'], secret: SECRET };
  await service.call('/v1/jwt-issuers', { ...issuer, defaultCampaignId: 'bench' });
  const variables = [
    { scope: 'campaign', name: 'counter', type: 'number' },
    { scope: 'user', name: 'points', type: 'number', default: 0 },
    { scope: 'user', name: 'tier', type: 'string', default: 'new' },
  ];
  for (const variable of variables) await service.call('/v1/campaigns/bench/variables:define', variable);
  const tokens = Array.from({ length: participants }, (_, index) => token(`participant-${index}`));
  return { tokens, counter: 'state.campaign.counter', points: 'state.user.points' };
}

function token(sub) {
  const exp = Math.floor(performance.timeOrigin / 1_000) + DAY_SECONDS;
  const head = text({ alg: 'HS256', typ: 'JWT' });
  const payload = text({ iss: 'https://bench.example.com', aud: 'bench', sub, exp });
  return `${head}.${payload}.${createHmac('sha256', SECRET).update(`${head}.${payload}`).digest('base64url')}`;
}

function text(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
