import { Socket } from 'node:net';

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
