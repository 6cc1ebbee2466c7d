import type { Writable } from 'node:stream';
import { standardOutputFailure } from '../../standard-output';
import type { EventOutput, ExportedEvent } from './event-output';

/** One JSON object in each line, to standard output; an interrupted run cannot be gone on with. */
export class NdjsonStream implements EventOutput {
  readonly room = Number.POSITIVE_INFINITY;

  constructor(private readonly stream: Writable) {}

  /** Resolves when the stream has taken the events, however slow its reader is. */
  async append(events: readonly ExportedEvent[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.stream.write(linesOf(events), (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    }).catch((error: unknown) => {
      throw standardOutputFailure(error);
    });
  }

  finish(): Promise<void> {
    return Promise.resolve();
  }

  suspend(): Promise<void> {
    return Promise.resolve();
  }
}

/** As the service lists them. Every number is the one that was sent (docs/adr/0050). */
export function linesOf(events: readonly ExportedEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}
