import type { Fault } from '../../platform/errors/fault';
import { FaultList } from '../../platform/errors/fault-list';
import {
  fieldPath,
  inexactFault,
  invalidCharactersFault,
  itemPath,
  tooManyKeysFault,
} from '../../platform/errors/fault-words';
import { isExactNumber } from '../../platform/values/json/exact-number';
import { isStorable } from '../../platform/values/text/storable-text';

/** Contract section 3: what the attributes or properties of an event may hold. */
export interface FreeFormLimits {
  /** Bytes of its JSON text in UTF-8. */
  readonly bytesMax: number;
  /** Objects and lists inside one another, the outermost counting as one. */
  readonly depthMax: number;
  /** Keys of all objects together. */
  readonly keysMax: number;
}

export const FREE_FORM_DEPTH_MAX = 8;
export const FREE_FORM_KEYS_MAX = 300;

/** A value and the way to it; the path is only put together where a fault is found. */
interface Place {
  readonly value: unknown;
  readonly depth: number;
  readonly name: string | number;
  readonly parent: Place | undefined;
}

/**
 * Checks a JSON object that the service stores without knowing its fields: its size, and that everything in it comes
 * out of the database exactly as it went in. Walks without recursion, since a hostile value may be nested 20,000 deep.
 */
export function checkFreeForm(
  object: object,
  path: string,
  limits: FreeFormLimits,
  faultsMax?: number,
): readonly Fault[] {
  const glance = new Glance(limits);
  if (!glance.isRight(object)) return faultsIn(object, path, limits, new FaultList(faultsMax));
  return glance.isSmall || isSmall(object, limits) ? [] : [tooLargeFault(path, limits.bytesMax)];
}

/** JSON writes a character in so many bytes at most, as \u0001, and 1e20 as 100000000000000000000. */
const CHARACTER_BYTES_MAX = 6;
const SCALAR_BYTES_MAX = 25;
/** Around a text, and what stands between it and the next. */
const QUOTES_BYTES = 4;

/**
 * A first look, which finds nothing wrong with most objects, and at a fraction of what it costs to know the way to each of their
 * values. Its recursion ends at the limit of depth.
 */
class Glance {
  private keys = 0;
  /** Of the JSON text, at most. */
  private bytes = 0;

  constructor(private readonly limits: FreeFormLimits) {}

  /** Whether nothing is wrong with the object but perhaps its size. */
  isRight(object: object): boolean {
    return this.isRightValue(object, this.limits.depthMax) && this.keys <= this.limits.keysMax;
  }

  /** Whether an object that was found right is certainly small enough; if not, it may still be. */
  get isSmall(): boolean {
    return this.bytes <= this.limits.bytesMax;
  }

  private isRightValue(value: unknown, levels: number): boolean {
    if (typeof value === 'string') return this.isRightText(value);
    this.bytes += SCALAR_BYTES_MAX;
    if (typeof value === 'number') return isExactNumber(value);
    if (typeof value !== 'object' || value === null) return true;
    if (levels === 0) return false;
    if (Array.isArray(value)) return value.every((element) => this.isRightValue(element, levels - 1));
    for (const key of Object.keys(value)) {
      this.keys += 1;
      if (!this.isRightText(key)) return false;
      if (!this.isRightValue((value as Record<string, unknown>)[key], levels - 1)) return false;
    }
    return true;
  }

  private isRightText(text: string): boolean {
    this.bytes += text.length * CHARACTER_BYTES_MAX + QUOTES_BYTES;
    return isStorable(text);
  }
}

function faultsIn(object: object, path: string, limits: FreeFormLimits, faults: FaultList): readonly Fault[] {
  const walk: Place[] = [{ value: object, depth: 1, name: path, parent: undefined }];
  let places = 0;
  let keys = 0;
  let tooDeep = false;
  for (let place = walk.pop(); place !== undefined; place = walk.pop()) {
    places += 1;
    // Each place takes two bytes of JSON text at least, so that the rest of a huge value need not be looked at.
    if (2 * places > limits.bytesMax + 1) return [...faults.all(), tooLargeFault(path, limits.bytesMax)];
    const { value, depth } = place;
    addFaultsOf(value, place, faults);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > limits.depthMax) tooDeep = true;
    else walk.push(...membersOf(value, place).reverse());
    if (!Array.isArray(value)) keys += Object.keys(value).length;
  }
  const ofAll: Fault[] = [];
  if (tooDeep) ofAll.push(tooDeepFault(path, limits.depthMax));
  if (keys > limits.keysMax) ofAll.push(tooManyKeysFault(path, limits.keysMax));
  if (!tooDeep && !isSmall(object, limits)) {
    ofAll.push(tooLargeFault(path, limits.bytesMax));
  }
  return [...faults.all(), ...ofAll];
}

/** JSON.stringify recurses, so it is asked only about what is known to be flat. */
function isSmall(object: object, { bytesMax }: FreeFormLimits): boolean {
  return Buffer.byteLength(JSON.stringify(object)) <= bytesMax;
}

/** In the order of the text; the caller's stack turns them around. */
function membersOf(container: object, parent: Place): Place[] {
  const depth = parent.depth + 1;
  if (Array.isArray(container)) return container.map((value: unknown, name) => ({ value, depth, name, parent }));
  return Object.entries(container).map(([name, value]: [string, unknown]) => ({ value, depth, name, parent }));
}

function pathOf({ name, parent }: Place): string {
  if (parent === undefined) return String(name);
  return typeof name === 'number' ? itemPath(pathOf(parent), name) : fieldPath(pathOf(parent), name);
}

function addFaultsOf(value: unknown, place: Place, faults: FaultList): void {
  if (typeof value === 'string' && !isStorable(value)) faults.add(() => invalidCharactersFault(pathOf(place)));
  if (typeof value === 'number' && !isExactNumber(value)) faults.add(() => inexactFault(pathOf(place)));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) faults.add(() => invalidCharactersFault(fieldPath(pathOf(place), key)));
  }
}

function tooDeepFault(path: string, depthMax: number): Fault {
  return { path, code: 'too_deep', message: `${path} is nested deeper than ${depthMax} levels; flatten it.` };
}

function tooLargeFault(path: string, bytesMax: number): Fault {
  return { path, code: 'too_large', message: `${path} is larger than ${bytesMax} bytes; send less with one event.` };
}
