import type { ServerResponse } from 'node:http';
import { andThen } from '../../async/and-then';
import { ByteSemaphore } from '../../async/byte-semaphore';
import { chargeBytes } from '../../rate-limit/rate-limits';
import { bodyTooLarge, RECEIVED_BYTES_MAX, unsupportedBody } from './body-refusal';
import { ClientGone } from '../../errors/client-gone';
import { checkContentDigest } from './content-digest';
import { HeldBodies, onceAnswered, tenantOf } from './held-bodies';
import type { ServiceRequest } from '../service-request';
import { isLargeBatch, parseBody, textStart, type BodyForm, type ParsedBody } from './parse-body';
import { inflateBody, readWhatIsThere, receiveBody, sendContinue, type Hold } from './receive-body';

/** A JSON body as it was understood, and its text. */
export interface ReceivedJson<Value = unknown> extends ParsedBody {
  readonly value: Value;
  /** The bytes of the JSON text, inflated. */
  readonly raw: Buffer;
}

export interface BodyLimits extends BodyForm {
  /** Holds for the transmitted and for the inflated bytes. */
  readonly bodyBytesMax: number;
  /** What all bodies of the process together may take. */
  readonly held?: HeldBodies;
}

/** The configured limits of bodies, by what a body brings. */
export interface BodyLimitsByName {
  /** One record or event. */
  readonly single: BodyLimits;
  /** A batch of events. */
  readonly batch: BodyLimits;
}

/** Injection token of the `BodyLimitsByName` in force. */
export const BODY_LIMITS = Symbol('body limits');

/** A parameter of a `Content-Type`. */
const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;
/** Values take up to twenty times the bytes of their JSON text: large bodies are in memory parsed only a few at a time. */
const LARGE_BODIES_BYTES_MAX = 16 * 1024 * 1024;
const largeBodies = new ByteSemaphore(LARGE_BODIES_BYTES_MAX);
const defaultHeldBodies = new HeldBodies();

/** Express gives a request its answer. */
type Answered = ServiceRequest & { readonly res?: ServerResponse };

/**
 * Reads and parses the JSON body of a request, to be called once credential and scope are known to suffice; a promise of it,
 * while it is not all there, has to be inflated, or is large. Checked in this order: content type, content encoding, declared
 * length (each before a byte is read), length, signed digest, gzip, UTF-8, nesting, JSON. The request is charged for its
 * bytes as soon as they are there. `entriesOf` names the top-level list whose entries are taken one by one.
 *
 * Throws BodyRefusal (415 `unsupported_media_type`, 413 `payload_too_large`, and what `parseBody` throws), and ClientGone when
 * the client aborts; `invalid_signature` when the body is not the one that was signed; `unavailable` when the bodies under way
 * take too much memory; the refusal of a credential that became invalid while the body arrived.
 */
export function readJsonBody(
  request: ServiceRequest,
  limits: BodyLimits,
  entriesOf?: string,
): ReceivedJson | Promise<ReceivedJson> {
  const { bodyBytesMax, held = defaultHeldBodies } = limits;
  if (!isUtf8Json(request.headers['content-type'])) {
    throw unsupportedBody('The body must be sent with Content-Type: application/json, in UTF-8.');
  }
  const gzipped = isGzipped(request.headers['content-encoding']);
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw declaredTooLarge(request, bodyBytesMax);
  sendContinue(request);
  const hold: Hold = (bytes) => held.hold(request, bytes);
  return andThen(receiveFromAdmitted(request, bodyBytesMax, hold), (transmitted) => {
    chargeBytes(request, transmitted.length);
    checkContentDigest(request, transmitted);
    const inflated = gzipped ? inflateBody(request, transmitted, bodyBytesMax, hold) : transmitted;
    return andThen(inflated, (raw) => {
      chargeBytes(request, raw.length);
      const parsing = isLargeBatch(raw, entriesOf)
        ? admitLargeBody(request, raw.length).then(() => parseBody(raw, limits, entriesOf))
        : parseBody(raw, limits, entriesOf);
      return andThen(parsing, ({ value, entries }) => ({ value, entries, raw }));
    });
  });
}

/** The transmitted bytes. If they took time, the credential must still be valid after it. */
function receiveFromAdmitted(request: ServiceRequest, bytesMax: number, hold: Hold): Buffer | Promise<Buffer> {
  const body = receiveBody(request, bytesMax, hold);
  if (!(body instanceof Promise)) return body;
  return body.then(async (bytes) => {
    await request.checkCredential?.();
    return bytes;
  });
}

/**
 * Waits until a large body may be in memory, where it counts until its request is answered. The answer may wait for its
 * client much longer, which must not hold up the bodies of others.
 */
async function admitLargeBody(request: ServiceRequest, bytes: number): Promise<void> {
  const release = await largeBodies.acquire(tenantOf(request), bytes);
  const { res } = request as Answered;
  if (res === undefined || res.closed) {
    release();
    if (res !== undefined) throw new ClientGone();
  } else onceAnswered(res, release);
}

/** JSON text as it came, without a byte order mark, which JSON.parse does not take. */
export function sentTextOf(raw: Buffer): string {
  return withoutMark(raw).toString('utf8');
}

/** The bytes of such a text. */
export function withoutMark(raw: Buffer): Buffer {
  return raw.subarray(textStart(raw));
}

/** Whether a body was announced, be it an empty chunked one. */
export function announcesBody(request: ServiceRequest): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/**
 * Whether a `Content-Type` says JSON in UTF-8: `application/json` in any case, with any parameters, of which every `charset`
 * is `utf-8`. (RFC 8259 knows no other encoding, and no such parameter, but clients send it.)
 */
function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const typeEnd = contentType.indexOf(';');
  const type = typeEnd === -1 ? contentType : contentType.slice(0, typeEnd);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return typeEnd === -1 || charsetsOf(contentType.slice(typeEnd)).every((charset) => /^(utf-8)?$/i.test(charset));
}

function charsetsOf(parameters: string): string[] {
  return [...parameters.matchAll(PARAMETER)]
    .filter(([, name]) => name?.toLowerCase() === 'charset')
    .map(([, , value = '']) => unquoted(value.trim()));
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

function isGzipped(contentEncoding: string | undefined): boolean {
  switch (contentEncoding?.trim().toLowerCase() ?? 'identity') {
    case 'identity':
    case '':
      return false;
    case 'gzip':
    case 'x-gzip':
      return true;
    default:
      throw unsupportedBody('The body must be sent plain or with Content-Encoding: gzip.', {
        'Accept-Encoding': 'gzip, identity',
      });
  }
}

function declaredTooLarge(request: ServiceRequest, bodyBytesMax: number): Error {
  // Nothing is waited for; what has arrived with the head shows what it was about.
  const early = readWhatIsThere(request);
  chargeBytes(request, bodyBytesMax);
  return bodyTooLarge(bodyBytesMax, Buffer.from(early.subarray(0, RECEIVED_BYTES_MAX)));
}
