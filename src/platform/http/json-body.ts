import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { atOnce } from '../async/at-once';
import { bodyTooLarge, malformedBody, unsupportedBody } from './body-refusal';
import { checkContentDigest } from './content-digest';
import { sendContinue } from './expect-continue';
import { isUtf8Json } from './media-type';
import { inflateBody, receiveBody } from './receive-body';

/** A JSON body as it was understood, and its text. */
export interface ReceivedJson {
  /** Of two equal keys the last one wins, as everywhere where JSON.parse reads. */
  readonly value: unknown;
  /** The bytes of the JSON text, inflated. */
  readonly raw: Buffer;
}

export interface BodyLimits {
  /** Holds for the transmitted and for the inflated bytes. */
  readonly bodyBytesMax: number;
}

const BYTE_ORDER_MARK_BYTES = 3;
/** V8's messages end like this when they quote nothing. Its others quote the text and are never shown. */
const POSITION = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/;

const received = Symbol('received');

interface Receiving extends IncomingMessage {
  [received]?: ReceivedJson;
}

/**
 * Reads and parses the JSON body of a request, to be called once credential and scope are known to suffice; a promise of it,
 * while it is not all there or has to be inflated. Checked in this order: content type, content encoding, declared length (each
 * before a byte is read), length, signed digest, gzip, UTF-8, JSON.
 *
 * Throws BodyRefusal (415 `unsupported_media_type`, 413 `payload_too_large`, 400 `malformed_json`), and ClientGone when the
 * client aborts; `invalid_signature` when the body is not the one that was signed. Any JSON value of any depth is a valid body here.
 */
export function readJsonBody(
  request: IncomingMessage,
  { bodyBytesMax }: BodyLimits,
): ReceivedJson | Promise<ReceivedJson> {
  if (!isUtf8Json(request.headers['content-type'])) {
    throw unsupportedBody('The body must be sent with Content-Type: application/json, in UTF-8.');
  }
  const gzipped = isGzipped(request.headers['content-encoding']);
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw declaredTooLarge(request, bodyBytesMax);
  sendContinue(request);
  return atOnce(receiveBody(request, bodyBytesMax), (transmitted) => {
    checkContentDigest(request, transmitted);
    const inflated = gzipped ? inflateBody(transmitted, bodyBytesMax) : transmitted;
    return atOnce(inflated, (raw) => parsed(request, raw));
  });
}

function parsed(request: Receiving, raw: Buffer): ReceivedJson {
  const body: ReceivedJson = { value: parseJson(raw), raw };
  request[received] = body;
  return body;
}

/** The body that `readJsonBody` has read of this request, for whoever stores or signs what was sent. */
export function receivedJson(request: IncomingMessage): ReceivedJson | undefined {
  return (request as Receiving)[received];
}

/** JSON text as it came, without a byte order mark, which JSON.parse does not take. */
export function sentTextOf(raw: Buffer): string {
  return raw.toString('utf8').replace(/^\uFEFF/, '');
}

/** Whether a body was announced, be it an empty chunked one. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
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

function declaredTooLarge(request: IncomingMessage, bodyBytesMax: number): Error {
  // Nothing is waited for; what has arrived with the head shows what it was about.
  const early: unknown = request.read();
  return bodyTooLarge(bodyBytesMax, Buffer.isBuffer(early) ? [early] : []);
}

function parseJson(raw: Buffer): unknown {
  if (raw.length === 0) throw malformedBody('The body is empty. Send one JSON value.', raw);
  if (!isUtf8(raw)) throw malformedBody('The body is not valid UTF-8.', raw);
  const marked = raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf;
  const text = raw.toString('utf8', marked ? BYTE_ORDER_MARK_BYTES : 0);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw malformedBody(describeSyntaxError(error), raw);
  }
}

function describeSyntaxError(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = POSITION.exec(message)?.[1];
  if (position !== undefined) return `The body is not valid JSON: character ${position} is not expected there.`;
  if (message === 'Unexpected end of JSON input') return 'The body is not valid JSON: it ends too early.';
  return 'The body is not valid JSON.';
}
