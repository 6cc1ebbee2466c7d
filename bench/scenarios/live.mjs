import { once } from 'node:events';
import { request } from 'node:http';
import { interleave, ratioOf } from '../measure/interleave.mjs';
import { newEvents } from './single-events.mjs';

export const live = {
  key: 'live',
  title: 'Live events: single events at full load, with eight viewers on the processes that take them',
  run,
};

/** Connections go to the processes in turn, so that each has several. */
const VIEWERS = 8;
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-cds-console': '1' };

/** Two services: for half a minute after its last viewer a process still samples what it answers. */
async function run(bench) {
  const plain = await bench.service('auto');
  const viewed = await bench.service('live', { WORKERS: 'auto' });
  const session = await signIn(viewed);
  const viewers = await Promise.all(Array.from({ length: VIEWERS }, () => openViewer(viewed, session)));
  try {
    const measured = await interleave(bench.options.rounds, {
      without: () => bench.load(plain, newEvents(plain)),
      with: () => bench.load(viewed, newEvents(viewed)),
    });
    const messages = viewers.map(({ received }) => received());
    if (Math.min(...messages) === 0) throw new Error(`A viewer has seen nothing: ${messages.join(', ')}`);
    return [
      { what: 'without viewers, one event a request', unit: 'events/s', ...measured.without },
      {
        what: `with ${VIEWERS} viewers`,
        unit: 'events/s',
        ...measured.with,
        ratio: ratioOf(measured.with, measured.without),
        atLeast: 0.98,
      },
    ];
  } finally {
    for (const viewer of viewers) viewer.close();
  }
}

/** The cookie of a session of the console. */
async function signIn({ url, authorization }) {
  const [, key] = authorization.Authorization.split(' ');
  const response = await fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  if (!response.ok) throw new Error(`The console answered ${response.status} to a sign-in`);
  const [cookie = ''] = response.headers.getSetCookie();
  return cookie.split(';', 1)[0];
}

/** Reads the stream as a page does, on a connection of its own, and counts its messages. */
async function openViewer({ url }, cookie) {
  const sent = request(`${url}/console/api/live`, { headers: { ...SAME_ORIGIN, cookie }, agent: false }).end();
  const [response] = await once(sent, 'response');
  if (response.statusCode !== 200) throw new Error(`The console answered ${response.statusCode} to a viewer`);
  let messages = 0;
  response.on('error', () => undefined);
  response.on('data', (chunk) => (messages += chunk.toString().split('\ndata: ').length - 1));
  return { received: () => messages, close: () => response.destroy() };
}
