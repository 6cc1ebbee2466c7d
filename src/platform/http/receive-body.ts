import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { chargeBytes } from '../rate-limit/request-meter';
import { bodyTooLarge, inflatesTooFar, malformedBody } from './body-refusal';
import { ClientGone } from './client-gone';

const INFLATE_CHUNK_BYTES = 32 * 1024;
/** Repetitive JSON of honest clients is transmitted in a thirtieth to a fiftieth of its size, nonsense in a thousandth. */
const INFLATION_MAX = 100;
/** What an event sent by itself may have: a body of this size is cheap, however well it was compressed. */
const INFLATED_FREELY_BYTES = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * The transmitted bytes of a request, at most `bytesMax`, or a promise of them while they are not all there; BodyRefusal beyond
 * that, and ClientGone on an abort.
 */
export function receiveBody(request: IncomingMessage, bytesMax: number): Buffer | Promise<Buffer> {
  if (request.readableEnded) throw new Error('The body of this request was read before.');
  // Of most requests all is there by now, and one look takes the place of a handful of listeners.
  if (request.complete && !request.destroyed && request.readableLength <= bytesMax) {
    return (request.read() as Buffer | null) ?? NOTHING;
  }
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      reject(new ClientGone());
      return;
    }
    const gone = (): void => {
      stop();
      reject(new ClientGone());
    };
    const whole = (body: Buffer): void => {
      request.off('close', gone);
      resolve(body);
    };
    const stop = collect(request, bytesMax, whole, (chunks) => {
      // The rest stays unread here; whoever answers decides what becomes of it.
      request.pause();
      chargeBytes(request, bytesMax);
      reject(bodyTooLarge(bytesMax, chunks));
    });
    // The error stays listened to: nobody else does, and an error nobody hears ends the process.
    request.on('error', gone).once('close', gone);
  });
}

/**
 * The inflated bytes, at most `bytesMax`, and at most a hundred times the transmitted ones. Inflation is fed by a bounded
 * buffer and stops at the limit, so a gzip bomb costs no more memory than an honest body of the largest size, and few bytes
 * cannot be made into many.
 */
export function inflateBody(request: IncomingMessage, transmitted: Buffer, bytesMax: number): Promise<Buffer> {
  const inflatedMax = Math.min(bytesMax, Math.max(INFLATED_FREELY_BYTES, INFLATION_MAX * transmitted.length));
  return new Promise((resolve, reject) => {
    const gunzip = createGunzip({ chunkSize: INFLATE_CHUNK_BYTES });
    const inflated: Buffer[] = [];
    const refuse = (chunks: Buffer[]): void => {
      gunzip.destroy();
      chargeBytes(request, inflatedMax);
      reject(inflatedMax < bytesMax ? inflatesTooFar(INFLATION_MAX, chunks) : bodyTooLarge(bytesMax, chunks));
    };
    collect(gunzip, inflatedMax, resolve, refuse, inflated);
    gunzip.on('error', () => {
      reject(malformedBody('The body is not valid gzip data, or it ends too early.', Buffer.concat(inflated)));
    });
    gunzip.end(transmitted);
  });
}

function collect(
  stream: Readable,
  bytesMax: number,
  onEnd: (whole: Buffer) => void,
  onTooLarge: (chunks: Buffer[]) => void,
  chunks: Buffer[] = [],
): () => void {
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes <= bytesMax) return;
    stop();
    onTooLarge(chunks);
  };
  const end = (): void => {
    stop();
    const [only] = chunks;
    onEnd(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes));
  };
  const stop = (): void => void stream.off('data', take).off('end', end);
  stream.on('data', take).once('end', end);
  return stop;
}
