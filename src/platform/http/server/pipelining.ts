import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
