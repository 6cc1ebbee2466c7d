// What is sent: each kind gives a function that makes the next request, whole, head and body.
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';

/** Customers that events are about, and participants that mutate: known after the warm-up, as most are in life. */
const CUSTOMERS = 10_000;

/** `request`: { kind, … } as the kind below wants it. */
export function requestsOf(request, url) {
  return KINDS[request.kind](request, new URL(url).host);
}

const KINDS = {
  /** The same request again and again. */
  fixed: ({ method = 'GET', path, headers, body }, host) => {
    const bytes = http(host, method, path, headers, body);
    return () => bytes;
  },

  /** One of several requests after the other. */
  cycle: ({ method = 'GET', paths, headers, tokens }, host) => {
    const all = paths.map((path, index) => http(host, method, path, { ...headers, ...bearer(tokens?.[index]) }));
    let at = 0;
    return () => all[at++ % all.length];
  },

  /** A new event each time. */
  event: ({ path, headers }, host) => {
    const nextEvent = events();
    return () => http(host, 'POST', path, headers, nextEvent());
  },

  /** A batch of new events each time. */
  batch: ({ path, headers, items }, host) => {
    const nextEvent = events();
    return () => {
      const list = Array.from({ length: items }, nextEvent);
      return http(host, 'POST', path, headers, `{"items":[${list.join(',')}]}`);
    };
  },

  /** Events of a given name over and over: `prefix` and numbers below `count`. */
  knownEvent: ({ path, headers, prefix, count }, host) => {
    let at = 0;
    return () => http(host, 'POST', path, headers, eventText(prefix, at++ % count));
  },

  /** Everybody adds one to the same counter, each time under a new mutation_id. */
  increment: ({ path, headers, tokens, target }, host) => {
    const prefix = randomBytes(6).toString('hex');
    let at = 0;
    return () => {
      at += 1;
      const body = `{"mutation_id":"${prefix}-${at}","ops":[{"path":"${target}","op":"inc","value":1}]}`;
      return http(host, 'POST', path, { ...headers, ...bearer(tokens[at % tokens.length]) }, body);
    };
  },

  /** An object for parse-server, under a request id of its own. */
  parseObject: ({ path, headers }, host) => {
    const nextEvent = events();
    const prefix = randomBytes(6).toString('hex');
    let at = 0;
    return () => {
      at += 1;
      return http(host, 'POST', path, { ...headers, 'X-Parse-Request-Id': `${prefix}-${at}` }, nextEvent());
    };
  },
};

function events() {
  const prefix = randomBytes(6).toString('hex');
  let at = 0;
  return () => eventText(prefix, at++);
}

/** The event that everything here is measured with: about 250 bytes. pgbench stores the same (`baselines/insert.sql`). */
export function eventText(prefix, at) {
  return (
    `{"source":"shop.orders","external_event_id":"${prefix}-${at}","type":"order.paid",` +
    `"occurred_at":"2026-01-05T10:00:00Z","identity":{"type":"EXTERNAL","value":"customer-${at % CUSTOMERS}"},` +
    `"attributes":{"amount":49.9,"currency":"EUR","items":3,"campaign":"spring"}}`
  );
}

function bearer(token) {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

function http(host, method, path, headers, body = '') {
  const own = body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries({ Host: host, ...headers, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
