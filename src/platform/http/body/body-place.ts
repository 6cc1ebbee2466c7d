import type { Fault } from '../../errors/fault';
import { fieldPath, itemPath } from '../../errors/fault-words';
import type { Shape } from './body-schema';

/** A fault and where it stands in the body, for sorting: positions of fields in the schema, of entries in their list. */
export interface PlacedFault {
  readonly fault: Fault;
  readonly order: readonly number[];
}

/** A place in a body. `above` makes it a chain, so that the walk over a faultless body builds no paths. */
export interface Place {
  readonly above?: Place;
  readonly key: string | number;
  readonly position: number;
}

/** Fields that a schema does not declare come after those it does. */
export const UNDECLARED = 1_000_000;

export function pathOf(place: Place | undefined): string {
  if (place === undefined) return '';
  const parent = pathOf(place.above);
  return typeof place.key === 'number' ? itemPath(parent, place.key) : fieldPath(parent, place.key);
}

export function orderOf(place: Place | undefined): number[] {
  return place === undefined ? [] : [...orderOf(place.above), place.position];
}

export function placedFault(place: Place | undefined, faultAt: (path: string) => Fault): PlacedFault {
  return { fault: faultAt(pathOf(place)), order: orderOf(place) };
}

/** The place of a field of an object, or of an entry of a list. */
export function below(above: Place | undefined, key: string | number, position: number): Place {
  return above === undefined ? { key, position } : { above, key, position };
}

export interface Resolved {
  readonly place: Place | undefined;
  readonly value: unknown;
  readonly shape: Shape | undefined;
}

/** Finds what a JSON pointer names in a body: its place, the value there and the value's shape. */
export function resolvePointer(pointer: string, body: unknown, bodyShape: Shape | undefined): Resolved {
  let at: Resolved = { place: undefined, value: body, shape: bodyShape };
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const { place, value, shape } = at;
    const inner = shape?.kind === 'object' ? (shape.fields.get(name)?.shape ?? shape.each) : shape?.each;
    at = { place: stepTo(place, name, value, shape), value: ownValue(value, name), shape: inner };
  }
  return at;
}

/** The place of `name` in `parent`, which is an object or a list and may lack it. */
export function stepTo(above: Place | undefined, name: string, parent: unknown, shape: Shape | undefined): Place {
  if (Array.isArray(parent)) return below(above, Number(name), Number(name));
  const declared = shape?.kind === 'object' ? shape.fields.get(name)?.position : undefined;
  return below(above, name, declared ?? UNDECLARED);
}

/** Compares by position, an object before its fields. */
export function byPlace(a: PlacedFault, b: PlacedFault): number {
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
