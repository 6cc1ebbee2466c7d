import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BytesByWorkspace } from '../../async/bytes-by-workspace';
import { ClientGone } from '../../errors/client-gone';
import { DomainError } from '../../errors/domain-error';

/** The parts of a request that identify its caller, with its response. */
type KnownRequest = IncomingMessage & {
  readonly caller?: { readonly tenantId: string };
  readonly participant?: { readonly tenantId: string };
  readonly res?: ServerResponse;
};

/** The largest batches of a dozen connections. */
export const HELD_BYTES_MAX = 256 * 1024 * 1024;
/** Only four workspaces at their limit could block others. */
const SHARE_OF_ONE_WORKSPACE = 1 / 4;
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the memory that bodies take from their first byte until their requests are answered: in this process, and for each
 * workspace. Bodies that are all there when they are read do not come here.
 */
export class HeldBodies {
  private readonly held = new BytesByWorkspace();
  private readonly byRequest = new Map<IncomingMessage, number>();

  constructor(private readonly bytesMax = HELD_BYTES_MAX) {}

  /**
   * Counts further bytes of a request's body until it is answered, or its connection has closed. The answer may wait for its
   * client much longer, without the body. Throws `unavailable` when they are too many, and `ClientGone` when the connection
   * has closed.
   */
  hold(request: KnownRequest, bytes: number): void {
    const ending = request.res ?? request;
    // Inflation goes on after the client has left. No further 'close' would release these bytes.
    if (ending.closed) throw new ClientGone();
    const tenantId = tenantOf(request);
    const known = this.byRequest.get(request);
    const ofWorkspace = this.held.of(tenantId) + bytes;
    const own = (known ?? 0) + bytes;
    // A body that has them alone is taken, whatever its size: no later time would be better.
    const isOverShare = ofWorkspace > own && ofWorkspace > this.bytesMax * SHARE_OF_ONE_WORKSPACE;
    const ofAll = this.held.total + bytes;
    const isOverAll = ofAll > own && ofAll > this.bytesMax;
    if (isOverShare || isOverAll) throw tooManyBytes();
    if (known === undefined) onceAnswered(ending, () => this.release(request, tenantId));
    this.byRequest.set(request, own);
    this.held.add(tenantId, bytes);
  }

  private release(request: IncomingMessage, tenantId: string): void {
    this.held.add(tenantId, -(this.byRequest.get(request) ?? 0));
    this.byRequest.delete(request);
  }
}

/** Calls `work` once: when the answer is complete, which may wait for its client much longer, or the connection has closed. */
export function onceAnswered(answer: EventEmitter, work: () => void): void {
  const answered = (): void => {
    answer.off('prefinish', answered).off('close', answered);
    work();
  };
  answer.on('prefinish', answered).on('close', answered);
}

/** The workspace of a request; empty before authentication. */
export function tenantOf({ caller, participant }: KnownRequest): string {
  return caller?.tenantId ?? participant?.tenantId ?? '';
}

function tooManyBytes(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many bytes of request bodies are being received. Send the same again after the time in Retry-After, with fewer requests at a time.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
