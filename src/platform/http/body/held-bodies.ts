import type { IncomingMessage, ServerResponse } from 'node:http';
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
  private bytes = 0;
  private readonly byWorkspace = new Map<string, number>();
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
    const ofWorkspace = (this.byWorkspace.get(tenantId) ?? 0) + bytes;
    const own = (known ?? 0) + bytes;
    // A body that has them alone is taken, whatever its size: no later time would be better.
    const isOverShare = ofWorkspace > own && ofWorkspace > this.bytesMax * SHARE_OF_ONE_WORKSPACE;
    const isOverAll = this.bytes + bytes > own && this.bytes + bytes > this.bytesMax;
    if (isOverShare || isOverAll) throw tooManyBytes();
    if (known === undefined) {
      const release = (): void => this.release(request, tenantId);
      ending.once('prefinish', release).once('close', release);
    }
    this.byRequest.set(request, own);
    this.byWorkspace.set(tenantId, ofWorkspace);
    this.bytes += bytes;
  }

  private release(request: IncomingMessage, tenantId: string): void {
    const bytes = this.byRequest.get(request) ?? 0;
    this.byRequest.delete(request);
    this.bytes -= bytes;
    const left = (this.byWorkspace.get(tenantId) ?? 0) - bytes;
    if (left > 0) this.byWorkspace.set(tenantId, left);
    else this.byWorkspace.delete(tenantId);
  }
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
