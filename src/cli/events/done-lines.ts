import type { Position } from './lines';

/** Lines from `from` on up to `to`, the latter not among them, the last of which ends at `endByte`. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly endByte: number;
}

/** What is done of a file: everything before `position`, and of what comes after it these ranges, in order, none touching another. */
export interface DoneLines {
  readonly position: Position;
  readonly beyond: readonly LineRange[];
}

export const NOTHING_DONE: DoneLines = { position: { lines: 0, bytes: 0 }, beyond: [] };

/** With one more range of lines, of which none was done before. There are never more ranges than batches under way. */
export function withDone({ position, beyond }: DoneLines, range: LineRange): DoneLines {
  const joined: LineRange[] = [];
  for (const next of [...beyond, range].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last?.to === next.from) joined[joined.length - 1] = { ...next, from: last.from };
    else joined.push(next);
  }
  const [first, ...rest] = joined;
  if (first?.from !== position.lines + 1) return { position, beyond: joined };
  return { position: { lines: first.to - 1, bytes: first.endByte }, beyond: rest };
}

/** Whether this line, counted from 1, need not be sent again. */
export function isDone({ position, beyond }: DoneLines, line: number): boolean {
  return line <= position.lines || beyond.some(({ from, to }) => line >= from && line < to);
}
