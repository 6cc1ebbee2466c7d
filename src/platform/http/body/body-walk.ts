import {
  invalidCharactersFault,
  tooManyItemsFault,
  tooManyKeysFault,
  unknownFieldFault,
} from '../../errors/fault-words';
import { SUGGESTIONS_MAX } from '../../errors/unknown-fields';
import { similarName } from '../../values/text/similar-name';
import { isStorable } from '../../values/text/storable-text';
import { below, type Place, type PlacedFault, placedFault, UNDECLARED } from './body-place';
import type { FieldShape, ListShape, ObjectShape, Shape } from './body-schema';

export interface Walked {
  /** The body without the nulls that mean absent, and cut where it exceeds a list's or map's limit. */
  readonly value: unknown;
  readonly faults: readonly PlacedFault[];
  /** Further unknown fields, which were only counted. */
  readonly uncollected: number;
}

interface Walk {
  readonly faults: PlacedFault[];
  uncollected: number;
  readonly faultsMax: number;
}

/**
 * Goes over the declared structure of a body before its values are checked: drops nulls that mean absent, finds fields that
 * do not belong there, and cuts lists and maps that are too long. So what Ajv collects afterwards is bounded by the schema,
 * not by the body. Text that cannot be stored is found here, too. It goes as deep as the schema and never into free-form values; a body with nothing to change comes back
 * itself, not a copy.
 */
export function walkBody(body: unknown, shape: Shape | undefined, faultsMax: number): Walked {
  const walk: Walk = { faults: [], uncollected: 0, faultsMax };
  const value = prune(body, shape, undefined, walk);
  return { value, faults: walk.faults, uncollected: walk.uncollected };
}

function prune(value: unknown, shape: Shape | undefined, place: Place | undefined, walk: Walk): unknown {
  if (shape === undefined || typeof value !== 'object' || value === null) return value;
  if (shape.kind === 'list') return Array.isArray(value) ? pruneList(value, shape, place, walk) : value;
  return Array.isArray(value) ? value : pruneObject(value as Record<string, unknown>, shape, place, walk);
}

function pruneList(list: readonly unknown[], shape: ListShape, place: Place | undefined, walk: Walk): unknown {
  const { itemsMax, each } = shape;
  if (list.length > itemsMax) walk.faults.push(placedFault(place, (path) => tooManyItemsFault(path, itemsMax)));
  const bounded = list.length > itemsMax ? list.slice(0, itemsMax) : list;
  let changed: unknown[] | undefined;
  for (const [index, entry] of bounded.entries()) {
    checkText(entry, place, index, index, walk);
    if (each === undefined) continue;
    const pruned = prune(entry, each, below(place, index, index), walk);
    if (pruned !== entry) (changed ??= [...bounded])[index] = pruned;
  }
  return changed ?? bounded;
}

function pruneObject(
  object: Record<string, unknown>,
  shape: ObjectShape,
  place: Place | undefined,
  walk: Walk,
): Record<string, unknown> {
  const names = Object.keys(object);
  if (names.length > shape.keysMax) {
    walk.faults.push(placedFault(place, (path) => tooManyKeysFault(path, shape.keysMax)));
    return {};
  }
  let dropped: Set<string> | undefined;
  let changed: Map<string, unknown> | undefined;
  for (const name of names) {
    const field = shape.fields.get(name);
    if (field === undefined && shape.closed) {
      reportUnknown(name, shape, place, walk);
      continue;
    }
    const value = object[name];
    if (value === null && field?.nullIsAbsent === true) (dropped ??= new Set()).add(name);
    checkText(value, place, name, positionOf(field), walk);
    const inner = field === undefined ? shape.each : field.shape;
    if (inner === undefined) continue;
    const pruned = prune(value, inner, below(place, name, positionOf(field)), walk);
    if (pruned !== value) (changed ??= new Map<string, unknown>()).set(name, pruned);
  }
  return dropped === undefined && changed === undefined ? object : copyOf(object, names, dropped, changed);
}

/** The path is put together only where there is a fault. */
function checkText(
  value: unknown,
  above: Place | undefined,
  name: string | number,
  position: number,
  walk: Walk,
): void {
  if (typeof value !== 'string' || isStorable(value)) return;
  walk.faults.push(placedFault(below(above, name, position), invalidCharactersFault));
}

/** More than can be listed are only counted: the body is refused anyway, and each fault costs memory. */
function reportUnknown(name: string, { fields }: ObjectShape, place: Place | undefined, walk: Walk): void {
  if (walk.faults.length > walk.faultsMax) {
    walk.uncollected += 1;
    return;
  }
  const meant = walk.faults.length < SUGGESTIONS_MAX ? similarName(name, fields.keys()) : undefined;
  walk.faults.push(placedFault(below(place, name, UNDECLARED), (path) => unknownFieldFault(path, 'this body', meant)));
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
