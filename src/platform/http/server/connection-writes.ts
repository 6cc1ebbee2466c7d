import { Socket } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Handles what arrives in one turn of the event loop in a row, in the order of arrival, at the beginning of the next turn.
 * Each step of a request is then taken by all of them before the next step, so that the code and data of a step are in the
 * processor's caches for all but the first: by itself each request runs through more code than they hold, and measured
 * three times as long in the checks of an event. A request that is alone waits for no other one.
 *
 * `handle` must not throw.
 */
export function inARow<Arguments extends readonly unknown[]>(
  handle: (...args: Arguments) => void,
): (...args: Arguments) => void {
  let arrived: Arguments[] = [];
  const handleAll = (): void => {
    const all = arrived;
    arrived = [];
    for (const args of all) handle(...args);
  };
  return (...args) => {
    if (arrived.push(args) === 1) setImmediate(handleAll);
  };
}

type Chunk = Parameters<NonNullable<Socket['_writev']>>[0][number];

/**
 * Sends an answer by a write of one piece. Node puts head and body of an answer into one string, and behind it an empty one
 * that is to tell when all is out; the list of both goes through more code than the string, for the same bytes on the wire.
 * `written` is called after each write. To be called for each connection, before anything is written to it.
 */
export function writeInOnePiece(socket: Socket, written: (socket: Socket) => void = () => undefined): void {
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => {
    write(chunk, encoding, done);
    written(socket);
  };
  socket._writev = (chunks, done) => {
    const [first, second] = chunks;
    if (chunks.length === 2 && first !== undefined && isEmpty(second)) write(first.chunk, first.encoding, done);
    else Socket.prototype._writev?.call(socket, chunks, done);
    written(socket);
  };
}

function isEmpty(chunk: Chunk | undefined): boolean {
  return chunk?.chunk === '';
}

/** Requests of one connection that may wait; honest clients that pipeline at all send a few. */
const WAITING_PER_CONNECTION_MAX = 1_000;
/** Of all connections of this process together: a request that waits takes some kilobytes. */
const WAITING_MAX = 10_000;

/** The requests of one connection that wait. */
interface Line {
  waiting: number;
}

/**
 * Handles the requests of one connection one after the other, each when the answers before it are out (HTTP pipelining). So a
 * connection has one answer in memory, however many requests a client sends that reads nothing. Meanwhile nothing further is
 * read from the connection. `handle` must not throw.
 */
export function oneAtATime(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const lines = new WeakMap<Socket, Line>();
  let waitingInAll = 0;
  const leave = (line: Line, requests: number): void => {
    line.waiting -= requests;
    waitingInAll -= requests;
  };
  const lineOf = (socket: Socket): Line => {
    const line = lines.get(socket) ?? { waiting: 0 };
    if (!lines.has(socket)) socket.once('close', () => leave(line, line.waiting));
    lines.set(socket, line);
    return line;
  };
  return (request, response) => {
    // Node gives an answer the connection when all answers before it are out.
    if (response.socket !== null) {
      handle(request, response);
      return;
    }
    const { socket } = request;
    const line = lineOf(socket);
    if (socket.destroyed || line.waiting >= WAITING_PER_CONNECTION_MAX || waitingInAll >= WAITING_MAX) {
      socket.destroy();
      return;
    }
    leave(line, -1);
    // Reading the body of an earlier request may have gone on reading the connection.
    socket.pause();
    response.once('socket', () => {
      leave(line, 1);
      if (line.waiting === 0) socket.resume();
      handle(request, response);
    });
  };
}
