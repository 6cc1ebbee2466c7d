import type { ErrorDetail } from '../../api/api-error';
import { fieldPath, pathAround } from './field-path';

/** A line of indented JSON, with the faults of the field that it shows. */
export interface PayloadLine {
  readonly text: string;
  readonly faults: readonly ErrorDetail[];
}

interface BareLine {
  readonly text: string;
  /** The field whose value begins here, as faults name it; undefined where one only ends. */
  readonly path?: string;
}

/**
 * A payload as indented JSON, each fault beside its field. A missing field's fault stands where the object begins that
 * lacks it. `others` are about the whole body.
 */
export function payloadLines(
  payload: unknown,
  faults: readonly ErrorDetail[],
): { readonly lines: readonly PayloadLine[]; readonly others: readonly ErrorDetail[] } {
  const bare = [...linesOf(payload, '', '', '', '')];
  const indexes = indexesOf(bare);
  const placed = new Map<number, ErrorDetail[]>();
  const others: ErrorDetail[] = [];
  for (const fault of faults) {
    const index = fault.path === '' ? undefined : lineOf(fault.path, indexes);
    if (index === undefined) others.push(fault);
    else placed.set(index, [...(placed.get(index) ?? []), fault]);
  }
  return { lines: bare.map(({ text }, index) => ({ text, faults: placed.get(index) ?? [] })), others };
}

/** Finds the number of the line in `JSON.stringify(payload, null, 2)` that shows a field, from 1. */
export function lineFinder(payload: unknown): (path: string) => number | undefined {
  const indexes = indexesOf([...linesOf(payload, '', '', '', '')]);
  return (path) => {
    const index = lineOf(path, indexes);
    return index === undefined ? undefined : index + 1;
  };
}

function indexesOf(lines: readonly BareLine[]): ReadonlyMap<string, number> {
  return new Map(lines.flatMap(({ path }, index) => (path === undefined ? [] : [[path, index] as const])));
}

/** The line of a field, else that of the nearest field around it. */
function lineOf(path: string, indexes: ReadonlyMap<string, number>): number | undefined {
  for (let around: string | undefined = path; around !== undefined; around = pathAround(around)) {
    const index = indexes.get(around);
    if (index !== undefined) return index;
  }
  return indexes.get('');
}

function* linesOf(
  value: unknown,
  path: string,
  indent: string,
  before: string,
  after: string,
): Generator<BareLine, void, undefined> {
  const members = membersOf(value, path);
  const [opening, closing] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (members === undefined || members.length === 0) {
    yield { path, text: `${indent}${before}${JSON.stringify(value)}${after}` };
    return;
  }
  yield { path, text: `${indent}${before}${opening}` };
  for (const [index, member] of members.entries()) {
    const comma = index < members.length - 1 ? ',' : '';
    yield* linesOf(member.value, member.path, `${indent}  `, member.label, comma);
  }
  yield { text: `${indent}${closing}${after}` };
}

interface Member {
  readonly value: unknown;
  readonly path: string;
  readonly label: string;
}

function membersOf(value: unknown, path: string): readonly Member[] | undefined {
  if (Array.isArray(value)) {
    return value.map((entry: unknown, index) => ({ value: entry, path: `${path}[${index}]`, label: '' }));
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).map(([name, member]: [string, unknown]) => ({
    value: member,
    path: fieldPath(path, name),
    label: `${JSON.stringify(name)}: `,
  }));
}
