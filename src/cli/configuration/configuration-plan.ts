import { DomainError } from '../../platform/errors/domain-error';
import { changedFields } from './changed-fields';
import type { ConfigurationFile, FileFault } from './configuration-file';
import type {
  ConfigurationEntry,
  ConfigurationKind,
  KindName,
  PlannedChange,
  StoredConfigurationEntry,
  TargetEntries,
} from './configuration-kind';

/** The changes of one kind. */
export interface KindPlan {
  readonly kind: ConfigurationKind;
  readonly changes: readonly PlannedChange[];
}

/** An entry of the file, checked, with the number of its place in the list of its kind. */
interface GivenEntry {
  readonly key: string;
  readonly index: number;
  readonly entry: ConfigurationEntry;
}

/** A kind of the file with what is stored of it. */
interface NamedKind {
  readonly kind: ConfigurationKind;
  readonly stored: ReadonlyMap<string, StoredConfigurationEntry>;
  readonly given: readonly GivenEntry[];
}

export interface PlanOptions {
  readonly prunes: boolean;
  readonly stored: ReadonlyMap<KindName, readonly StoredConfigurationEntry[]>;
}

/**
 * What has to change so that the workspace has what the file says; in the order of kinds. Kinds that the file does not
 * name stay, also when it prunes. Throws `ClientFailure` with the place of every fault.
 */
export async function planConfiguration(
  kinds: readonly ConfigurationKind[],
  file: ConfigurationFile,
  { prunes, stored }: PlanOptions,
): Promise<readonly KindPlan[]> {
  const faults: FileFault[] = [...file.faults];
  const named: NamedKind[] = [];
  for (const kind of kinds) {
    const entries = file.entries.get(kind.name);
    if (entries === undefined) continue;
    const given = await checkedEntries(kind, file, entries, faults);
    named.push({ kind, given, stored: byKey(stored.get(kind.name) ?? []) });
  }
  file.refuse(faults);
  const plans = named.map((each) => ({ kind: each.kind, changes: changesOf(each, file, prunes, faults) }));
  const states = { kept: targetOf(plans.map(withoutArchiving), stored), after: targetOf(plans, stored) };
  for (const [index, each] of named.entries()) {
    faults.push(...(await faultsAgainst(each, plans[index]?.changes ?? [], file, states)));
  }
  if (plans.some(({ changes }) => changes.some(({ action }) => action === 'archive'))) {
    const unnamed = kinds.filter(({ name }) => !file.entries.has(name));
    for (const kind of unnamed) faults.push(...(await faultsOutside(kind, stored.get(kind.name) ?? [], states)));
  }
  file.refuse(faults);
  return plans;
}

/** Stored records by their keys. Where several have one key, the further ones have the number of their place behind it. */
export function byKey(records: readonly StoredConfigurationEntry[]): ReadonlyMap<string, StoredConfigurationEntry> {
  const numbered = numberedKeys();
  return new Map(records.map((record) => [numbered(record.key), record]));
}

function numberedKeys(): (key: string) => string {
  const counts = new Map<string, number>();
  return (key) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? key : `${key} (${count})`;
  };
}

async function checkedEntries(
  kind: ConfigurationKind,
  file: ConfigurationFile,
  entries: readonly ConfigurationEntry[],
  faults: FileFault[],
): Promise<readonly GivenEntry[]> {
  const given: GivenEntry[] = [];
  const numbered = numberedKeys();
  const seen = new Set<string>();
  for (const [index, each] of entries.entries()) {
    const place = file.placeOf(kind.name, index);
    try {
      const entry = await kind.parse(each);
      const plain = kind.keyOf(entry);
      const key = kind.mayRepeat === true ? numbered(plain) : plain;
      if (seen.has(key)) faults.push({ at: place, code: 'duplicate', message: `${kind.name} has ${key} already.` });
      seen.add(key);
      given.push({ key, index, entry });
    } catch (error) {
      faults.push(...file.faultsAt(place, refusalsIn(error)));
    }
  }
  return given;
}

function changesOf(
  { kind, stored, given }: NamedKind,
  file: ConfigurationFile,
  prunes: boolean,
  faults: FileFault[],
): readonly PlannedChange[] {
  const changes: PlannedChange[] = [];
  for (const { key, index, entry } of given) {
    const record = stored.get(key);
    const before = record?.entry;
    const after = before === undefined ? entry : (kind.merge?.(before, entry) ?? entry);
    if (before !== undefined && isSame(kind, before, after)) continue;
    const { faults: found = [], breaks = [], notes = [] } = kind.review?.(before, after) ?? {};
    faults.push(...file.faultsAt(file.placeOf(kind.name, index), found));
    const action = before === undefined ? 'create' : 'change';
    changes.push({ action, key, ...idOf(record), ...(before === undefined ? {} : { before }), after, breaks, notes });
  }
  const { archiving } = kind;
  if (!prunes || archiving === undefined) return changes;
  const keys = new Set(given.map(({ key }) => key));
  for (const [key, record] of stored) {
    if (keys.has(key) || record.isArchived) continue;
    const notes = archiving.note === undefined ? [] : [archiving.note];
    changes.push({ action: 'archive', key, ...idOf(record), before: record.entry, breaks: [], notes });
  }
  return changes;
}

function idOf(record: StoredConfigurationEntry | undefined): { readonly id?: string } {
  return record?.id === undefined ? {} : { id: record.id };
}

/** Whether two entries of a kind say the same. */
export function isSame(kind: ConfigurationKind, stored: ConfigurationEntry, given: ConfigurationEntry): boolean {
  return kind.isSame?.(stored, given) ?? changedFields(stored, given).length === 0;
}

function withoutArchiving({ kind, changes }: KindPlan): KindPlan {
  return { kind, changes: changes.filter(({ action }) => action !== 'archive') };
}

/** What the workspace has when the plans are applied. */
function targetOf(plans: readonly KindPlan[], stored: PlanOptions['stored']): TargetEntries {
  return (name) => {
    const entries = new Map([...byKey(stored.get(name) ?? [])].map(([key, { entry }]) => [key, entry]));
    for (const { key, after } of plans.find(({ kind }) => kind.name === name)?.changes ?? []) {
      if (after === undefined) entries.delete(key);
      else entries.set(key, after);
    }
    return [...entries.values()];
  };
}

/** What the workspace has when nothing is archived, and with the whole plan. */
interface States {
  readonly kept: TargetEntries;
  readonly after: TargetEntries;
}

/** Entries that stay as they are stored have faults only if the plan takes away what they need. */
async function faultsAgainst(
  { kind, stored, given }: NamedKind,
  changes: readonly PlannedChange[],
  file: ConfigurationFile,
  states: States,
): Promise<FileFault[]> {
  const faults: FileFault[] = [];
  const changed = new Set(changes.map(({ key }) => key));
  for (const { key, entry, index } of given) {
    const record = changed.has(key) ? undefined : stored.get(key);
    const found =
      record === undefined ? await refusalsOf(kind, entry, states.after) : await refusalsOfStored(kind, record, states);
    faults.push(...file.faultsAt(file.placeOf(kind.name, index), found));
  }
  return faults;
}

/** The faults that a plan would cause in records of a kind that the file does not name. */
async function faultsOutside(
  kind: ConfigurationKind,
  records: readonly StoredConfigurationEntry[],
  states: States,
): Promise<FileFault[]> {
  const faults: FileFault[] = [];
  for (const record of records) {
    const found = await refusalsOfStored(kind, record, states);
    const words = `${kind.name} ${record.key} is in force and not in this file:`;
    faults.push(...found.map(({ code, message }) => ({ at: [], code, message: `${words} ${message}` })));
  }
  return faults;
}

/** What a plan takes from a stored record that has an effect. Faults that it has anyway keep nobody from the rest. */
async function refusalsOfStored(
  kind: ConfigurationKind,
  { entry, isArchived }: StoredConfigurationEntry,
  { kept, after }: States,
): Promise<DomainError['details']> {
  if (isArchived) return [];
  const found = await refusalsOf(kind, entry, after);
  if (found.length === 0 || (await refusalsOf(kind, entry, kept)).length > 0) return [];
  return found;
}

async function refusalsOf(
  kind: ConfigurationKind,
  entry: ConfigurationEntry,
  target: TargetEntries,
): Promise<DomainError['details']> {
  try {
    await kind.checkAgainst?.(entry, target);
    return [];
  } catch (error) {
    return refusalsIn(error);
  }
}

function refusalsIn(error: unknown): DomainError['details'] {
  if (error instanceof DomainError && error.details.length > 0) return error.details;
  throw error;
}
