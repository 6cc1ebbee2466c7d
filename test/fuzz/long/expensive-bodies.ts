import { gzipSync } from 'node:zlib';
import { aCdpEvent, anExternalEvent } from '../../support/builders';
import {
  BATCH,
  contactLike,
  type ExpensiveInput,
  listed,
  MEBIBYTE,
  PROPERTIES_BYTES,
  sends,
  statuses,
} from './expensive-input';

const BATCH_BYTES_MAX = 5 * MEBIBYTE;
const CDP_BATCH = '/v1/cdp/events/batch';
const GZIP = { headers: { 'content-encoding': 'gzip' } };

/** A batch of this many events of which the free-form object is this JSON text. */
function eventsWith(json: string, count = 78): string {
  const item = JSON.stringify(anExternalEvent({ attributes: 'PUT HERE' })).replace('"PUT HERE"', () => json);
  return `{"items":[${listed(item, count)}]}`;
}

function itemsOf(entry: string): string {
  return `{"items":[${listed(entry, Math.floor((BATCH_BYTES_MAX - 20) / (entry.length + 1)))}]}`;
}

function fields(count: number, value: string): string {
  return `{${Array.from({ length: count }, (_unused, n) => `"${n.toString(36)}":${value}`).join(',')}}`;
}

function faultyItem(count: number): object {
  return anExternalEvent(Object.fromEntries(Array.from({ length: count }, (_unused, index) => [`unknown${index}`, 0])));
}

function plain(name: string, body: () => string | Uint8Array, times = 2, path = BATCH): ExpensiveInput {
  return { name, send: sends(path, body, times) };
}

function gzipped(name: string, body: () => string, times = 4): ExpensiveInput {
  return { name: `${name}, gzipped`, send: sends(BATCH, () => gzipSync(body()), times, GZIP) };
}

const largestHonestEvents = (): string =>
  JSON.stringify({ items: Array.from({ length: 79 }, () => anExternalEvent({ attributes: contactLike() })) });

/** Of what is valid JSON and what is not, in each place of a body. */
export const EXPENSIVE_BODIES: readonly ExpensiveInput[] = [
  gzipped('a body of nested lists', () => '['.repeat(2_600_000), 8),
  plain('a body of nested lists', () => '['.repeat(2_600_000), 8),
  plain('items that are lists, 60 deep', () => itemsOf('['.repeat(60) + ']'.repeat(60))),
  ...['[]', '{}', '""', '1', '1e999', '"\\u0000"', '"\\u0040"'].flatMap((entry) => [
    plain(`items that are ${entry}`, () => itemsOf(entry)),
    plain(`events full of ${entry}`, () =>
      eventsWith(`{"a":[${listed(entry, Math.floor(PROPERTIES_BYTES / (entry.length + 1)))}]}`),
    ),
  ]),
  gzipped('items that are empty lists', () => itemsOf('[]')),
  gzipped('items that are numbers', () => itemsOf('1')),
  plain('more lists in each event than it may have', () => eventsWith(`{"a":[${listed('[]', 22_300)}]}`)),
  plain('one item of 5 MiB', () => `{"items":[[${listed('[]', 1_700_000)}]]}`),
  plain('one item of 500,000 fields', () => `{"items":[${fields(500_000, '1')}]}`),
  plain('300,000 unknown fields in 20 items', () => `{"items":[${listed(fields(15_000, '1'), 20)}]}`),
  plain('15,000 unknown fields in one event', () => fields(15_000, '1'), 20, '/v1/external-events'),
  plain('8,000 unknown fields in one event', () => fields(8_000, '1'), 20, '/v1/external-events'),
  plain('5 MiB of numbers without commas', () => ' 4'.repeat(BATCH_BYTES_MAX / 2)),
  plain('5 MiB of zero bytes', () => new Uint8Array(BATCH_BYTES_MAX)),
  plain('5 MiB that are not UTF-8', () => new Uint8Array(BATCH_BYTES_MAX).fill(0xff)),
  plain('5 MiB of one text of escapes', () => `"${'\\u0040'.repeat(BATCH_BYTES_MAX / 6 - 1)}"`),
  gzipped('a body that ends too early', () => `{"items":[${listed('"\\u0000"', BATCH_BYTES_MAX / 9 - 10)}`),
  plain('a batch of the largest honest events', largestHonestEvents),
  plain('eight batches of the largest honest events', largestHonestEvents, 8),
  plain('a batch of 1,000 events with as many fields as fit', () => {
    const attributes = Object.fromEntries(Array.from({ length: 290 }, (_unused, index) => [`key${index}`, index]));
    return JSON.stringify({ items: Array.from({ length: 1_000 }, () => anExternalEvent({ attributes })) });
  }),
  gzipped('a batch with a fault in each of 200,000 fields', () =>
    JSON.stringify({ items: Array.from({ length: 1_000 }, () => faultyItem(200)) }),
  ),
  plain(
    'refused items of 250 KB',
    () => JSON.stringify({ items: Array.from({ length: 19 }, () => ({ text: 'x@y.de '.repeat(36_000) })) }),
    20,
  ),
  plain(
    '1,000 events of as many types that nobody registered',
    () =>
      JSON.stringify({ items: Array.from({ length: 1_000 }, (_unused, n) => aCdpEvent({ eventType: `type${n}` })) }),
    4,
    CDP_BATCH,
  ),
  {
    name: 'properties of one long text full of digits',
    send: ({ workspace }) => {
      const attributes = { text: '1 '.repeat(PROPERTIES_BYTES / 2 - 20) };
      return statuses(10, () => workspace.admin.post('/v1/external-events', anExternalEvent({ attributes })));
    },
  },
];
