import type { Socket } from 'node:net';

export interface UnsentLimits {
  /** Bytes of answers that wait in this process for their clients to read them. */
  readonly unsentBytesMax: number;
  /** How long a client may take nothing of an answer. */
  readonly unsentSecondsMax: number;
}

export const UNSENT_LIMITS: UnsentLimits = { unsentBytesMax: 128 * 1024 * 1024, unsentSecondsMax: 30 };

/** Larger than any answer; a stream waits for its client long before. */
const SHARE_OF_ONE_CONNECTION = 1 / 4;
/** Room is made for more than the answer at hand, so that it is not made for each answer anew. */
const ROOM_LEFT = 0.9;
const SWEEP_MS = 1_000;

/** Node knows how much of a write the system has not taken yet, and shows it here. */
type WritingSocket = Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };

interface Slow {
  bytes: number;
  /** What is left of the write under way: less each time the client reads. */
  left: number;
  movedAt: number;
  readonly since: number;
}

/**
 * Bounds the memory that answers take until their clients have read them. A connection whose client takes nothing for half a
 * minute is closed; so are, where the answers of all connections together are too much, those that hold most for longest.
 */
export class UnsentAnswers {
  private readonly slow = new Map<WritingSocket, Slow>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly limits: UnsentLimits;

  /** `closed` is told how many connections were closed, at most once a second. */
  constructor(
    limits: Partial<UnsentLimits>,
    private readonly closed: (connections: number) => void,
  ) {
    this.limits = { ...UNSENT_LIMITS, ...limits };
  }

  /** To be called when something was written: nearly always all of it is out by then. */
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
    else if (this.bytes > unsentBytesMax) this.makeRoom();
  }

  /** Forgets who has read everything, and closes the connections of those who read nothing. */
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

  private makeRoom(): void {
    this.forgetDone();
    const { unsentBytesMax } = this.limits;
    if (this.bytes <= unsentBytesMax) return;
    const now = performance.now();
    const costOf = ({ bytes, since }: Slow): number => bytes * (now - since + 1);
    const worstFirst = [...this.slow].sort(([, a], [, b]) => costOf(b) - costOf(a));
    let left = this.bytes;
    const chosen: WritingSocket[] = [];
    for (const [socket, { bytes }] of worstFirst) {
      if (left <= unsentBytesMax * ROOM_LEFT) break;
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

  /** By a reset: the system then forgets what it has taken as well. */
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
