import type { Fault } from '../../platform/errors/fault';
import { FaultList } from '../../platform/errors/fault-list';
import {
  fieldPath,
  inexactFault,
  invalidCharactersFault,
  itemPath,
  tooManyKeysFault,
} from '../../platform/errors/fault-words';
import { isExactNumber } from '../../platform/values/json/json-values';
import { isStorable } from '../../platform/values/text/text-rules';

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

/** The limits of both families; `propertiesBytesMax` is configured. */
export function freeFormLimits({
  propertiesBytesMax: bytesMax,
}: {
  readonly propertiesBytesMax: number;
}): FreeFormLimits {
  return { bytesMax, depthMax: FREE_FORM_DEPTH_MAX, keysMax: FREE_FORM_KEYS_MAX };
}

/** A value and the members that lead to it; the path is only put together where a fault is found. */
interface Node {
  readonly value: unknown;
  readonly depth: number;
  readonly name: string | number;
  readonly parent: Node | undefined;
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
  const check = new QuickCheck(limits);
  if (!check.isValid(object)) return faultsIn(object, path, limits, new FaultList(faultsMax));
  return check.isSmall || isSmall(object, limits) ? [] : [tooLargeFault(path, limits.bytesMax)];
}

/** JSON writes a character in so many bytes at most, as \u0001, and 1e20 as 100000000000000000000. */
const CHARACTER_BYTES_MAX = 6;
const SCALAR_BYTES_MAX = 25;
/** The quotes of a text, and the separator behind it. */
const QUOTES_BYTES = 4;

/**
 * Finds out that an object has no fault, as most have none, without keeping the path to each value. Its recursion ends at the
 * limit of depth.
 */
class QuickCheck {
  private keys = 0;
  /** Of the JSON text, at most. */
  private bytes = 0;

  constructor(private readonly limits: FreeFormLimits) {}

  /** Whether the object has no fault, except that it may be too large. */
  isValid(object: object): boolean {
    return this.isValidValue(object, this.limits.depthMax) && this.keys <= this.limits.keysMax;
  }

  /** Whether a valid object is certainly small enough; if false, it may still be. */
  get isSmall(): boolean {
    return this.bytes <= this.limits.bytesMax;
  }

  private isValidValue(value: unknown, levels: number): boolean {
    if (typeof value === 'string') return this.isValidText(value);
    this.bytes += SCALAR_BYTES_MAX;
    if (typeof value === 'number') return isExactNumber(value);
    if (typeof value !== 'object' || value === null) return true;
    if (levels === 0) return false;
    if (Array.isArray(value)) return value.every((element) => this.isValidValue(element, levels - 1));
    for (const key of Object.keys(value)) {
      this.keys += 1;
      if (!this.isValidText(key)) return false;
      if (!this.isValidValue((value as Record<string, unknown>)[key], levels - 1)) return false;
    }
    return true;
  }

  private isValidText(text: string): boolean {
    this.bytes += text.length * CHARACTER_BYTES_MAX + QUOTES_BYTES;
    return isStorable(text);
  }
}

function faultsIn(object: object, path: string, limits: FreeFormLimits, faults: FaultList): readonly Fault[] {
  const walk: Node[] = [{ value: object, depth: 1, name: path, parent: undefined }];
  let nodes = 0;
  let keys = 0;
  let tooDeep = false;
  for (let node = walk.pop(); node !== undefined; node = walk.pop()) {
    nodes += 1;
    // Each value takes two bytes of JSON text at least, so that the rest of a huge one need not be visited.
    if (2 * nodes > limits.bytesMax + 1) return [...faults.all(), tooLargeFault(path, limits.bytesMax)];
    const { value, depth } = node;
    addFaultsOf(node, faults);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > limits.depthMax) tooDeep = true;
    // One by one: a call takes some hundred thousand arguments at most.
    else for (const member of membersOf(value, node).reverse()) walk.push(member);
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

/** JSON.stringify recurses: only for objects within the limit of depth. */
function isSmall(object: object, { bytesMax }: FreeFormLimits): boolean {
  return Buffer.byteLength(JSON.stringify(object)) <= bytesMax;
}

/** In the order of the text; the caller's stack reverses them. */
function membersOf(container: object, parent: Node): Node[] {
  const depth = parent.depth + 1;
  if (Array.isArray(container)) return container.map((value: unknown, name) => ({ value, depth, name, parent }));
  return Object.entries(container).map(([name, value]: [string, unknown]) => ({ value, depth, name, parent }));
}

function pathOf({ name, parent }: Node): string {
  if (parent === undefined) return String(name);
  return typeof name === 'number' ? itemPath(pathOf(parent), name) : fieldPath(pathOf(parent), name);
}

function addFaultsOf(node: Node, faults: FaultList): void {
  const { value } = node;
  if (typeof value === 'string' && !isStorable(value)) faults.add(() => invalidCharactersFault(pathOf(node)));
  if (typeof value === 'number' && !isExactNumber(value)) faults.add(() => inexactFault(pathOf(node)));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) faults.add(() => invalidCharactersFault(fieldPath(pathOf(node), key)));
  }
}

function tooDeepFault(path: string, depthMax: number): Fault {
  return { path, code: 'too_deep', message: `${path} is nested deeper than ${depthMax} levels; flatten it.` };
}

function tooLargeFault(path: string, bytesMax: number): Fault {
  return { path, code: 'too_large', message: `${path} is larger than ${bytesMax} bytes; send less with one event.` };
}
