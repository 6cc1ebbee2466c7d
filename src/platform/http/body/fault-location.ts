import type { Fault } from '../../errors/fault';
import { fieldPath, itemPath } from '../../errors/fault-words';
import type { Shape } from './body-schema';

/** A fault with its sort key: the positions of fields in the schema, and of entries in their list. */
export interface LocatedFault {
  readonly fault: Fault;
  readonly order: readonly number[];
}

/** The location of a field or entry in a body. A linked list, so that the walk over a valid body builds no paths. */
export interface FieldLocation {
  readonly above?: FieldLocation;
  readonly key: string | number;
  readonly position: number;
}

/** The position of undeclared fields: after all declared ones. */
export const UNDECLARED = 1_000_000;

export function pathOf(location: FieldLocation | undefined): string {
  if (location === undefined) return '';
  const parent = pathOf(location.above);
  return typeof location.key === 'number' ? itemPath(parent, location.key) : fieldPath(parent, location.key);
}

export function orderOf(location: FieldLocation | undefined): number[] {
  return location === undefined ? [] : [...orderOf(location.above), location.position];
}

export function locatedFault(location: FieldLocation | undefined, faultAt: (path: string) => Fault): LocatedFault {
  return { fault: faultAt(pathOf(location)), order: orderOf(location) };
}

/** The location of a field of an object, or of an entry of a list. */
export function below(above: FieldLocation | undefined, key: string | number, position: number): FieldLocation {
  return above === undefined ? { key, position } : { above, key, position };
}

export interface Resolved {
  readonly location: FieldLocation | undefined;
  readonly value: unknown;
  readonly shape: Shape | undefined;
}

/** Finds what a JSON pointer names in a body: its location, the value there and the value's shape. */
export function resolvePointer(pointer: string, body: unknown, bodyShape: Shape | undefined): Resolved {
  let at: Resolved = { location: undefined, value: body, shape: bodyShape };
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const { location, value, shape } = at;
    const inner = shape?.kind === 'object' ? (shape.fields.get(name)?.shape ?? shape.each) : shape?.each;
    at = { location: stepTo(location, name, value, shape), value: ownValue(value, name), shape: inner };
  }
  return at;
}

/** The location of `name` in `parent`, which is an object or a list and may lack it. */
export function stepTo(
  above: FieldLocation | undefined,
  name: string,
  parent: unknown,
  shape: Shape | undefined,
): FieldLocation {
  if (Array.isArray(parent)) return below(above, Number(name), Number(name));
  const declared = shape?.kind === 'object' ? shape.fields.get(name)?.position : undefined;
  return below(above, name, declared ?? UNDECLARED);
}

/** Sorts by position, an object before its fields. */
export function byLocation(a: LocatedFault, b: LocatedFault): number {
  const depth = Math.min(a.order.length, b.order.length);
  for (let level = 0; level < depth; level += 1) {
    const difference = (a.order[level] ?? 0) - (b.order[level] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.order.length - b.order.length;
}

function ownValue(parent: unknown, name: string): unknown {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, name)) return undefined;
  return (parent as Record<string, unknown>)[name];
}
