import type { Fault } from '../../platform/errors/fault';
import { fieldPath, itemPath } from '../../platform/errors/fault-words';
import { looksMasked } from '../../platform/privacy/mask-text';
import { isObject } from '../../platform/values/json/json-values';

/** A part of the stored payload, and of its masked view. Both are undefined where nothing is stored, or no JSON. */
interface Before {
  readonly stored: unknown;
  readonly shown: unknown;
}

/** A corrected payload beside the stored one. */
export interface Correction extends Before {
  readonly value: object;
}

interface NamedBefore extends Before {
  readonly name: string;
}

const NOTHING: Before = { stored: undefined, shown: undefined };

/**
 * The corrected payload with the stored values and names in the places of their masks, so that a caller who may not see
 * personal data can correct the rest. A mask in any other place is a fault, because nobody knows which value it stands
 * for: stored as an identity, it would make one customer of several.
 */
export function restoreMasked(
  { value, ...before }: Correction,
  path: string,
): { readonly value: object; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  return { value: restoredNode(value, before, path, faults) as object, faults };
}

function restoredNode(corrected: unknown, before: Before, path: string, faults: Fault[]): unknown {
  if (typeof corrected === 'string') return restoredText(corrected, before, path, faults);
  if (Array.isArray(corrected)) return restoredEntries(corrected, before, path, faults);
  return isObject(corrected) ? restoredMembers(corrected, before, path, faults) : corrected;
}

function restoredText(corrected: string, { stored, shown }: Before, path: string, faults: Fault[]): unknown {
  if (corrected === shown) return stored;
  if (corrected !== stored && looksMasked(corrected)) faults.push(maskedFault(path));
  return corrected;
}

/** In a list of another length nothing says which entry is which. */
function restoredEntries(
  corrected: readonly unknown[],
  { stored, shown }: Before,
  path: string,
  faults: Fault[],
): unknown[] {
  const isAligned = Array.isArray(stored) && Array.isArray(shown) && stored.length === corrected.length;
  return corrected.map((entry, index) => {
    const before = isAligned ? { stored: stored[index] as unknown, shown: shown[index] as unknown } : NOTHING;
    return restoredNode(entry, before, itemPath(path, index), faults);
  });
}

function restoredMembers(corrected: object, before: Before, path: string, faults: Fault[]): object {
  const known = membersBefore(before);
  const members = Object.entries(corrected).map(([name, member]: [string, unknown]): [string, unknown] => {
    const memberPath = fieldPath(path, name);
    const found = known.get(name);
    if (found === undefined && looksMasked(name)) faults.push(maskedFault(memberPath));
    return [found?.name ?? name, restoredNode(member, found ?? NOTHING, memberPath, faults)];
  });
  return Object.fromEntries(members);
}

/** By the names that the view shows. It has the members in the order of the stored ones. */
function membersBefore({ stored, shown }: Before): ReadonlyMap<string, NamedBefore> {
  if (!isObject(stored) || !isObject(shown)) return new Map();
  const shownMembers = Object.entries(shown);
  return new Map(
    Object.entries(stored).flatMap(([name, member], index): [string, NamedBefore][] => {
      const [shownName, shownMember] = shownMembers[index] ?? [];
      return shownName === undefined ? [] : [[shownName, { name, stored: member, shown: shownMember }]];
    }),
  );
}

function maskedFault(path: string): Fault {
  const message = `${path} is the mask of a value in a view; send the value itself, or leave the mask where the view has it.`;
  return { path, code: 'masked_value', message };
}
