import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { chargeBytes } from '../../rate-limit/rate-limits';
import type { ServiceRequest } from '../service-request';
import { bodyTooLarge, inflatesTooFar, malformedBody, RECEIVED_BYTES_MAX } from './body-refusal';
import { ClientGone } from '../../errors/client-gone';

const INFLATE_CHUNK_BYTES = 32 * 1024;
/** Repetitive JSON of honest clients is transmitted in a thirtieth to a fiftieth of its size, nonsense in a thousandth. */
const INFLATION_MAX = 100;
/** What an event sent by itself may have: a body of this size is cheap, however well it was compressed. */
const INFLATED_FREELY_BYTES = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/** Called with the bytes of each piece of a body; throws when memory is short. */
export type Hold = (bytes: number) => void;

/** Marks a request whose client waits for 100 Continue before it sends the body. */
export function holdContinue(request: ServiceRequest, response: ServerResponse): void {
  request.awaitingContinue = response;
}

/** Sends 100 Continue to a waiting client. The code that reads the body calls it, after credential and scope were checked. */
export function sendContinue(request: ServiceRequest): void {
  if (request.headers.expect === undefined) return;
  request.awaitingContinue?.writeContinue();
  request.awaitingContinue = undefined;
}

/**
 * The transmitted bytes of a request, at most `bytesMax`, or a promise of them while they are not all there; BodyRefusal beyond
 * that, ClientGone on an abort, and what `hold` throws.
 */
export function receiveBody(request: ServiceRequest, bytesMax: number, hold: Hold): Buffer | Promise<Buffer> {
  if (request.readableEnded) throw new Error('The body of this request was read before.');
  // Of most requests all is there by now, and one look takes the place of a handful of listeners.
  if (request.complete && !request.destroyed && request.readableLength <= bytesMax) {
    return readWhatIsThere(request);
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
    // The request stays as long as its answer waits for the client, and with it what its listeners hold: the body.
    const letGo = (): void => void request.on('error', ignore).off('error', gone).off('close', gone);
    const whole = (body: Buffer): void => {
      letGo();
      resolve(body);
    };
    const refuse = (error: Error): void => {
      letGo();
      // The rest stays unread here; the code that answers decides whether to read it.
      request.pause();
      reject(error);
    };
    const body = new BodyBytes(declaredLength(request) ?? bytesMax);
    const tooLarge = (): void => {
      chargeBytes(request, bytesMax);
      refuse(bodyTooLarge(bytesMax, body.head(RECEIVED_BYTES_MAX)));
    };
    const stop = collect(request, body, { bytesMax, hold, onEnd: whole, onTooLarge: tooLarge, onError: refuse });
    request.on('error', gone).once('close', gone);
  });
}

/** Nobody else listens, and an error that nobody hears ends the process. */
function ignore(): void {}

/** All that a request has brought so far. Since Node 26 one `read` answers one chunk, before that all of them. */
export function readWhatIsThere(request: ServiceRequest): Buffer {
  const bytes = request.readableLength;
  const first = (request.read() as Buffer | null) ?? NOTHING;
  if (first.length === bytes) return first;
  const chunks = [first];
  for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read() as Buffer | null) {
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  if (whole.length !== bytes) throw new Error('A body was not read to its end.');
  return whole;
}

/**
 * The inflated bytes, at most `bytesMax`, and at most a hundred times the transmitted ones. Inflation is fed by a bounded
 * buffer and stops at the limit, so a gzip bomb costs no more memory than an honest body of the largest size, and few bytes
 * cannot be made into many.
 */
export function inflateBody(
  request: ServiceRequest,
  transmitted: Buffer,
  bytesMax: number,
  hold: Hold,
): Promise<Buffer> {
  const inflatedMax = Math.min(bytesMax, Math.max(INFLATED_FREELY_BYTES, INFLATION_MAX * transmitted.length));
  return new Promise((resolve, reject) => {
    const gunzip = createGunzip({ chunkSize: INFLATE_CHUNK_BYTES });
    const inflated = new BodyBytes(inflatedMax);
    const refuse = (error: Error): void => {
      gunzip.destroy();
      reject(error);
    };
    const tooLarge = (): void => {
      chargeBytes(request, inflatedMax);
      const head = inflated.head(RECEIVED_BYTES_MAX);
      refuse(inflatedMax < bytesMax ? inflatesTooFar(INFLATION_MAX, head) : bodyTooLarge(bytesMax, head));
    };
    collect(gunzip, inflated, { bytesMax: inflatedMax, hold, onEnd: resolve, onTooLarge: tooLarge, onError: refuse });
    gunzip.on('error', () => {
      reject(malformedBody('The body is not valid gzip data, or it ends too early.', inflated.join()));
    });
    gunzip.end(transmitted);
  });
}

interface Collecting {
  readonly bytesMax: number;
  readonly hold: Hold;
  readonly onEnd: (whole: Buffer) => void;
  readonly onTooLarge: () => void;
  readonly onError: (error: Error) => void;
}

/** Puts the chunks of a stream together in `body`; answers what stops that. */
function collect(stream: Readable, body: BodyBytes, collecting: Collecting): () => void {
  const { bytesMax, hold, onEnd, onTooLarge, onError } = collecting;
  const take = (chunk: Buffer): void => {
    body.add(chunk);
    try {
      hold(chunk.length);
    } catch (error) {
      stop();
      onError(error as Error);
      return;
    }
    if (body.length <= bytesMax) return;
    stop();
    onTooLarge();
  };
  const end = (): void => {
    stop();
    onEnd(body.join());
  };
  const stop = (): void => void stream.off('data', take).off('end', end);
  stream.on('data', take).once('end', end);
  return stop;
}

/** Undefined for a chunked body. */
function declaredLength(request: ServiceRequest): number | undefined {
  const declared = request.headers['content-length'];
  return declared === undefined ? undefined : Number(declared);
}

/** Memory is taken for the whole body once this part of it is there: a client has to send it before it costs us the rest. */
const PART_FOR_WHOLE = 1 / 4;

/**
 * Puts a body together while it arrives. Each chunk is copied in the turn of the event loop that brought it: twenty bodies
 * of 5 MiB that end in the same turn took 85 ms of it when each was copied at its end.
 */
export class BodyBytes {
  private readonly chunks: Buffer[] = [];
  private whole: Buffer | undefined;
  private bytes = 0;

  /** `bytesMax` is what the body can become; what is added beyond it counts and is not kept. */
  constructor(private readonly bytesMax: number) {}

  get length(): number {
    return this.bytes;
  }

  add(chunk: Buffer): void {
    const at = this.bytes;
    this.bytes += chunk.length;
    if (at > 0 && this.whole === undefined && this.bytes >= this.bytesMax * PART_FOR_WHOLE) this.startWhole();
    if (this.whole === undefined) this.chunks.push(chunk);
    else chunk.copy(this.whole, at);
  }

  /** All that was added; to be called once. */
  join(): Buffer {
    if (this.whole !== undefined) return this.whole.subarray(0, this.bytes);
    const [first = NOTHING] = this.chunks;
    return this.chunks.length > 1 ? Buffer.concat(this.chunks, this.bytes) : first;
  }

  /** A copy of the beginning, so that the rest can be freed. */
  head(bytesMax: number): Buffer {
    if (this.whole !== undefined) return Buffer.from(this.whole.subarray(0, Math.min(this.bytes, bytesMax)));
    return Buffer.concat(this.chunks, Math.min(this.bytes, bytesMax));
  }

  private startWhole(): void {
    this.whole = Buffer.allocUnsafe(this.bytesMax);
    let at = 0;
    for (const chunk of this.chunks) at += chunk.copy(this.whole, at);
    this.chunks.length = 0;
  }
}
