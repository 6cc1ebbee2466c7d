import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses by name; an empty list: the name has none. About any other name the server says nothing at all. */
export type DnsNames = Readonly<Record<string, readonly string[]>>;

/** A DNS server on a free UDP port of loopback. */
export interface DnsStub {
  /** As settings name it. */
  readonly server: string;
  /** The names that it was asked for, once for each query. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, 4 | 6>> = { 1: 4, 28: 6 };

export async function startDnsStub(names: DnsNames): Promise<DnsStub> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, end } = nameIn(query);
    asked.push(name);
    const found = names[name];
    if (found !== undefined) socket.send(answerTo(query, end, found), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** The name of the one question, and where it ends. */
function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function answerTo(query: Buffer, nameEnd: number, addresses: readonly string[]): Buffer {
  const family = TYPES[query.readUInt16BE(nameEnd)];
  const records = addresses.filter((address) => (isIPv4(address) ? 4 : 6) === family).map(recordOf);
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  // An answer to a recursive query, with no error.
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(records.length, 6);
  header.fill(0, 8);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, nameEnd + 4), ...records]);
}

/** The name by a pointer to the question, type, class, a minute to live, and the address. */
function recordOf(address: string): Buffer {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.from('c00c00010001' + '0000003c' + '0000', 'hex');
  head.writeUInt16BE(bytes.length === 4 ? 1 : 28, 2);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}
