import type { components } from '../../../../clients/typescript/src/client';

/** An event as `GET /v1/events` lists it. */
export type ExportedEvent = components['schemas']['EventDto'];

/** How far an export has come. */
export interface ExportPosition {
  readonly rows: number;
  /** Of the next page; null before the first one, and at the end. */
  readonly cursor: string | null;
  /** Whether every event of the range has been read. */
  readonly isComplete: boolean;
  /** Of the last event. */
  readonly receivedAt: string | null;
}

/** What a later run needs in order to go on behind a position: the part of the NDJSON file, or the number of Parquet files. */
export type WrittenOutput = { readonly bytes: number; readonly tailSha256: string } | { readonly files: number };

/** Notes what is on disk. It must be on disk before this is called, and must not be lost after. */
export type SavePosition = (position: ExportPosition, written: WrittenOutput) => Promise<void>;

/** Where exported events go. Its methods are called one after the other, and throw `ClientFailure` where it cannot be written. */
export interface EventOutput {
  /** How many events it takes at once. */
  readonly room: number;
  /** Takes the events that lead to `position`. */
  append(events: readonly ExportedEvent[], position: ExportPosition): Promise<void>;
  /** After the last events: makes the output durable and gives it its name. */
  finish(): Promise<void>;
  /** Ends a run that is not complete; with as much saved as can be. */
  suspend(): Promise<void>;
}
