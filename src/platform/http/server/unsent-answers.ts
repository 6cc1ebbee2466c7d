import type { Socket } from 'node:net';

export interface UnsentLimits {
  /** Bytes of answers in memory that clients have not read. */
  readonly unsentBytesMax: number;
  /** How long a client may read nothing of an answer. */
  readonly unsentSecondsMax: number;
}

export const UNSENT_LIMITS: UnsentLimits = { unsentBytesMax: 128 * 1024 * 1024, unsentSecondsMax: 30 };

/** Larger than any answer. A stream waits for its client before it is reached. */
const SHARE_OF_ONE_CONNECTION = 1 / 4;
/** Connections are closed until this share of the limit is left, so that this is not repeated for each answer. */
const SHARE_LEFT = 0.9;
const SWEEP_MS = 1_000;

/** Node exposes how much of a write the system has not accepted yet. */
type WritingSocket = Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };

interface Slow {
  bytes: number;
  /** The rest of the running write. It falls each time the client reads. */
  left: number;
  movedAt: number;
  readonly since: number;
}

/**
 * Bounds the memory of answers that clients have not read. A connection whose client reads nothing for half a minute is closed.
 * When the answers of all connections exceed a limit, those with the most bytes for the longest time are closed too.
 */
export class UnsentAnswers {
  private readonly slow = new Map<WritingSocket, Slow>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly limits: UnsentLimits;

  /** `closed` gets the number of closed connections, at most once a second. */
  constructor(
    limits: Partial<UnsentLimits>,
    private readonly closed: (connections: number) => void,
  ) {
    this.limits = { ...UNSENT_LIMITS, ...limits };
  }

  /** Call it after each write. In most cases all of it has been sent by then. */
  note(socket: WritingSocket): void {
    const bytes = socket.writableLength;
    if (bytes === 0 || socket.destroyed) return;
    const now = performance.now();
    const known = this.slow.get(socket);
    const entry = known ?? { bytes: 0, left: leftOf(socket), movedAt: now, since: now };
    this.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    if (known === undefined) this.slow.set(socket, entry);
    this.timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    const { unsentBytesMax } = this.limits;
    if (bytes > unsentBytesMax * SHARE_OF_ONE_CONNECTION) this.close([socket]);
    else if (this.bytes > unsentBytesMax) this.closeSlowest();
  }

  /** Drops connections whose client has read everything, and closes those whose client reads nothing. */
  private sweep(): void {
    const now = performance.now();
    this.forgetDone();
    const stalled: WritingSocket[] = [];
    for (const [socket, entry] of this.slow) {
      const left = leftOf(socket);
      if (left !== entry.left) entry.movedAt = now;
      entry.left = left;
      if (now - entry.movedAt >= this.limits.unsentSecondsMax * 1_000) stalled.push(socket);
    }
    this.close(stalled);
    if (this.slow.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private closeSlowest(): void {
    this.forgetDone();
    const { unsentBytesMax } = this.limits;
    if (this.bytes <= unsentBytesMax) return;
    const now = performance.now();
    const costOf = ({ bytes, since }: Slow): number => bytes * (now - since + 1);
    const worstFirst = [...this.slow].sort(([, a], [, b]) => costOf(b) - costOf(a));
    let left = this.bytes;
    const chosen: WritingSocket[] = [];
    for (const [socket, { bytes }] of worstFirst) {
      if (left <= unsentBytesMax * SHARE_LEFT) break;
      left -= bytes;
      chosen.push(socket);
    }
    this.close(chosen);
  }

  private forgetDone(): void {
    for (const [socket, entry] of this.slow) {
      const bytes = socket.destroyed ? 0 : socket.writableLength;
      this.bytes += bytes - entry.bytes;
      entry.bytes = bytes;
      if (bytes === 0) this.slow.delete(socket);
    }
  }

  /** Closes by a reset, so that the system drops its buffers too. */
  private close(sockets: readonly WritingSocket[]): void {
    for (const socket of sockets) {
      this.bytes -= this.slow.get(socket)?.bytes ?? 0;
      this.slow.delete(socket);
      socket.resetAndDestroy();
    }
    if (sockets.length > 0) this.closed(sockets.length);
  }
}

function leftOf(socket: WritingSocket): number {
  return (socket._handle?.writeQueueSize ?? 0) + socket.writableLength;
}
