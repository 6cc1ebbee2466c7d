import {
  invalidCharactersFault,
  tooManyItemsFault,
  tooManyKeysFault,
  unknownFieldFault,
} from '../../errors/fault-words';
import { SUGGESTIONS_MAX } from '../../errors/unknown-fields';
import { similarName } from '../../values/text/similar-name';
import { isStorable } from '../../values/text/text-rules';
import { below, type FieldLocation, type LocatedFault, locatedFault, UNDECLARED } from './fault-location';
import type { FieldShape, ListShape, ObjectShape, Shape } from './body-schema';

export interface Walked {
  /** The body without the nulls that mean absent, and cut where it exceeds a list's or map's limit. */
  readonly value: unknown;
  readonly faults: readonly LocatedFault[];
  /** Further unknown fields, which were only counted. */
  readonly uncollected: number;
}

interface Walk {
  readonly faults: LocatedFault[];
  uncollected: number;
  readonly faultsMax: number;
}

/**
 * Walks the declared structure of a body before its values are checked. It drops nulls that mean absent, finds unknown fields
 * and text that cannot be stored, and cuts lists and maps that are too long. So the number of errors that Ajv collects is
 * bounded by the schema, not by the body. It never enters free-form values. A body without changes is returned itself.
 */
export function walkBody(body: unknown, shape: Shape | undefined, faultsMax: number): Walked {
  const walk: Walk = { faults: [], uncollected: 0, faultsMax };
  const value = prune(body, shape, undefined, walk);
  return { value, faults: walk.faults, uncollected: walk.uncollected };
}

function prune(value: unknown, shape: Shape | undefined, location: FieldLocation | undefined, walk: Walk): unknown {
  if (shape === undefined || typeof value !== 'object' || value === null) return value;
  if (shape.kind === 'list') return Array.isArray(value) ? pruneList(value, shape, location, walk) : value;
  return Array.isArray(value) ? value : pruneObject(value as Record<string, unknown>, shape, location, walk);
}

function pruneList(
  list: readonly unknown[],
  shape: ListShape,
  location: FieldLocation | undefined,
  walk: Walk,
): unknown {
  const { itemsMax, each } = shape;
  if (list.length > itemsMax) walk.faults.push(locatedFault(location, (path) => tooManyItemsFault(path, itemsMax)));
  const bounded = list.length > itemsMax ? list.slice(0, itemsMax) : list;
  let changed: unknown[] | undefined;
  for (const [index, entry] of bounded.entries()) {
    checkText(entry, location, index, index, walk);
    if (each === undefined) continue;
    const pruned = prune(entry, each, below(location, index, index), walk);
    if (pruned !== entry) (changed ??= [...bounded])[index] = pruned;
  }
  return changed ?? bounded;
}

function pruneObject(
  object: Record<string, unknown>,
  shape: ObjectShape,
  location: FieldLocation | undefined,
  walk: Walk,
): Record<string, unknown> {
  const names = Object.keys(object);
  if (names.length > shape.keysMax) {
    walk.faults.push(locatedFault(location, (path) => tooManyKeysFault(path, shape.keysMax)));
    return {};
  }
  let dropped: Set<string> | undefined;
  let changed: Map<string, unknown> | undefined;
  for (const name of names) {
    const field = shape.fields.get(name);
    if (field === undefined && shape.closed) {
      reportUnknown(name, shape, location, walk);
      continue;
    }
    const value = object[name];
    if (value === null && field?.nullIsAbsent === true) (dropped ??= new Set()).add(name);
    checkText(value, location, name, positionOf(field), walk);
    const inner = field === undefined ? shape.each : field.shape;
    if (inner === undefined) continue;
    const pruned = prune(value, inner, below(location, name, positionOf(field)), walk);
    if (pruned !== value) (changed ??= new Map<string, unknown>()).set(name, pruned);
  }
  return dropped === undefined && changed === undefined ? object : copyOf(object, names, dropped, changed);
}

/** Builds the path only for a fault. */
function checkText(
  value: unknown,
  above: FieldLocation | undefined,
  name: string | number,
  position: number,
  walk: Walk,
): void {
  if (typeof value !== 'string' || isStorable(value)) return;
  walk.faults.push(locatedFault(below(above, name, position), invalidCharactersFault));
}

/** Beyond the limit unknown fields are only counted, because each fault costs memory. */
function reportUnknown(name: string, { fields }: ObjectShape, location: FieldLocation | undefined, walk: Walk): void {
  if (walk.faults.length > walk.faultsMax) {
    walk.uncollected += 1;
    return;
  }
  const meant = walk.faults.length < SUGGESTIONS_MAX ? similarName(name, fields.keys()) : undefined;
  walk.faults.push(
    locatedFault(below(location, name, UNDECLARED), (path) => unknownFieldFault(path, 'this body', meant)),
  );
}

function positionOf(field: FieldShape | undefined): number {
  return field?.position ?? UNDECLARED;
}

function copyOf(
  object: Record<string, unknown>,
  names: readonly string[],
  dropped: ReadonlySet<string> | undefined,
  changed: ReadonlyMap<string, unknown> | undefined,
): Record<string, unknown> {
  const kept = names.filter((name) => dropped?.has(name) !== true);
  // Not by assignment: a field named __proto__ must stay a field.
  return Object.fromEntries(kept.map((name) => [name, changed?.has(name) === true ? changed.get(name) : object[name]]));
}
