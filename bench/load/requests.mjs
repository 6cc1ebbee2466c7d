// What is sent. Each kind gives a template of its requests, which is filled here for autocannon and in wrk.lua for wrk: what a
// request looks like is written once.
//
// A template is { head, body, numbers }. The head is a list of pieces, and so is each of the items that a body is made of: { open,
// item, times, close }; the head then ends where the body's length belongs. Items are numbered, from 0 again at `numbers`. A piece
// is a text or made of the item's number: { below } the number, from 0 again at that limit, { of } that text of a list.
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';

/** Customers that events are about, and participants that mutate: known after the warm-up, as most are in life. */
const CUSTOMERS = 10_000;
const COUNTLESS = Number.MAX_SAFE_INTEGER;
const NUMBER = { below: COUNTLESS };

/** `request`: { kind, … } as the kind below wants it. Events of two templates are never the same. */
export function templateOf(request, url) {
  return { numbers: COUNTLESS, ...KINDS[request.kind](request, new URL(url).host) };
}

/** A function that makes the next request of a template, whole, head and body. */
export function requestsOf({ head, body, numbers }) {
  let at = -1;
  const next = () => (at = (at + 1) % numbers);
  if (body === undefined) return () => Buffer.from(filled(head, next()));
  return () => {
    const items = Array.from({ length: body.times }, () => filled(body.item, next()));
    const text = `${body.open}${items.join(',')}${body.close}`;
    return Buffer.from(`${filled(head, at)}${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
}

/** The event that everything here is measured with: about 250 bytes. pgbench stores the same (`baselines/insert.sql`). */
export function eventText(prefix, at) {
  return filled(event(prefix), at);
}

const KINDS = {
  /** The same request again and again. */
  fixed: ({ path, headers }, host) => ({ head: [get(host, path, headers)] }),

  /** One of several requests after the other. */
  cycle: ({ paths, headers, tokens }, host) => ({
    head: [
      { of: paths.map((path, index) => get(host, path, { ...headers, Authorization: `Bearer ${tokens[index]}` })) },
    ],
  }),

  /**
   * A new event each time. `customers`: `new`, each is of a customer of its own; else they are of those above. `tokens`: the
   * keys of several workspaces, in turn.
   */
  event: ({ path, headers, customers, tokens }, host) => ({
    head: post(host, path, headers, tokens === undefined ? [] : ['Authorization: Bearer ', { of: tokens }]),
    body: one(event(unique(), customers)),
  }),

  /** A batch of new events each time. */
  batch: ({ path, headers, items, customers }, host) => ({
    head: post(host, path, headers),
    body: { open: '{"items":[', item: event(unique(), customers), times: items, close: ']}' },
  }),

  /** Events of a given name over and over: `prefix` and numbers below `count`. */
  knownEvent: ({ path, headers, prefix, count }, host) => ({
    head: post(host, path, headers),
    body: one(event(prefix)),
    numbers: count,
  }),

  /** Everybody adds one to the same counter, each time under a new mutation_id. */
  increment: ({ path, headers, tokens, target }, host) => ({
    head: post(host, path, headers, ['Authorization: Bearer ', { of: tokens }]),
    body: one([`{"mutation_id":"${unique()}-`, NUMBER, `","ops":[{"path":"${target}","op":"inc","value":1}]}`]),
  }),

  /** An object for parse-server, under a request id of its own. */
  parseObject: ({ path, headers }, host) => ({
    head: post(host, path, headers, [`X-Parse-Request-Id: ${unique()}-`, NUMBER]),
    body: one(event(unique())),
  }),
};

function filled(pieces, at) {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      return piece.of === undefined ? at % piece.below : piece.of[at % piece.of.length];
    })
    .join('');
}

function event(prefix, customers) {
  const customer = customers === 'new' ? [`${prefix}-`, NUMBER] : [{ below: CUSTOMERS }];
  return [
    `{"source":"shop.orders","external_event_id":"${prefix}-`,
    NUMBER,
    `","type":"order.paid","occurred_at":"2026-01-05T10:00:00Z","identity":{"type":"EXTERNAL","value":"customer-`,
    ...customer,
    `"},"attributes":{"amount":49.9,"currency":"EUR","items":3,"campaign":"spring"}}`,
  ];
}

function one(item) {
  return { open: '', item, times: 1, close: '' };
}

function unique() {
  return randomBytes(6).toString('hex');
}

function get(host, path, headers) {
  return `${start('GET', host, path, headers)}\r\n`;
}

/** The head of a request with a body; `changing`: the pieces of one more header. */
function post(host, path, headers, changing = []) {
  const end = 'Content-Type: application/json\r\nContent-Length: ';
  const before = start('POST', host, path, headers);
  return changing.length === 0 ? [before + end] : [before, ...changing, `\r\n${end}`];
}

function start(method, host, path, headers) {
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}`;
}
