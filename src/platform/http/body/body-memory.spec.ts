import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express, { type Request } from 'express';
import { until } from '../../../../test/support/until';
import { readJsonBody } from './json-body';

const MEBIBYTE = 1024 * 1024;
/** More than the system takes of an answer that nobody reads. */
const LARGE_ANSWER_BYTES = 12 * MEBIBYTE;
/** It comes in several chunks, which are put together. */
const BODY_BYTES = MEBIBYTE / 2;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('the memory of a body is free once it is answered, whether or not its client reads the answer', async () => {
  let body: WeakRef<object> | undefined;
  const read = async (request: Request): Promise<void> => {
    body = new WeakRef((await readJsonBody(request, { bodyBytesMax: MEBIBYTE })).raw.buffer);
  };
  const app = express().post('/', async (request, response) => {
    await read(request);
    response.end('x'.repeat(LARGE_ANSWER_BYTES));
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  try {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ';
    socket.write(`${head}${BODY_BYTES}\r\n\r\n${'{}'.padEnd(BODY_BYTES, ' ')}`);
    await until(() => body !== undefined);
    await until(() => {
      collectGarbage();
      return body?.deref() === undefined;
    });
  } finally {
    socket.destroy();
    server.close();
  }
});
