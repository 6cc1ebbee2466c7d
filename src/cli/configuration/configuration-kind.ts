import type { EntityManager } from 'typeorm';
import type { Fault } from '../../platform/errors/fault';
import type { TransactionPrecondition } from '../../platform/postgres/transaction-precondition';

/** The kinds of configuration, in the order in which they stand in a file and are applied: later ones name earlier ones. */
export const KIND_NAMES = ['eventTypes', 'variables', 'reactions', 'webhooks', 'issuers', 'retention'] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** A record as it stands in a file. Defaults are left out, so that equal records have equal entries. */
export type ConfigurationEntry = Readonly<Record<string, unknown>>;

/** An entry of a workspace. */
export interface StoredConfigurationEntry {
  /** Unique in its kind. */
  readonly key: string;
  readonly entry: ConfigurationEntry;
  /** Whether it has no effect any more: `--prune` leaves it alone. */
  readonly isArchived: boolean;
  /** Of kinds whose records have an id besides their key. */
  readonly id?: string;
}

/** What `cds apply` does with one record. */
export interface PlannedChange {
  readonly action: 'create' | 'change' | 'archive';
  readonly key: string;
  /** Of a stored record that has one. */
  readonly id?: string;
  /** Undefined for `create`. */
  readonly before?: ConfigurationEntry;
  /** Undefined for `archive`. */
  readonly after?: ConfigurationEntry;
  /** What breaks events that were valid before. */
  readonly breaks: readonly Fault[];
  /** What a reader should know before it is applied. */
  readonly notes: readonly string[];
}

/** What a kind says about a change that is planned. */
export interface ChangeReview {
  /** Why it cannot be applied. */
  readonly faults?: readonly Fault[];
  readonly breaks?: readonly Fault[];
  readonly notes?: readonly string[];
}

export interface ApplyOptions {
  readonly allowBreaking: boolean;
  readonly precondition: TransactionPrecondition;
}

/** What the workspace will have when a plan is applied. */
export type TargetEntries = (kind: KindName) => readonly ConfigurationEntry[];

/** One kind of configuration: how it is read, checked and changed, by the services that the routes use. */
export interface ConfigurationKind {
  readonly name: KindName;
  /** What `--prune` does to its records; undefined: nothing. */
  readonly archiving: { readonly verb: string; readonly note?: string } | undefined;
  /** Whether several records may have one key; they are told apart by their order. */
  readonly mayRepeat?: boolean;
  /** The stored records: in a transaction if one is given. */
  read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]>;
  keyOf(entry: ConfigurationEntry): string;
  /** The entry of a file without its defaults. Throws `validation_failed` with every fault. */
  parse(entry: ConfigurationEntry): Promise<ConfigurationEntry>;
  /** What becomes of a stored entry when the file has this one; the same object when the file says all. */
  merge?(stored: ConfigurationEntry, given: ConfigurationEntry): ConfigurationEntry;
  /** Whether two entries say the same; by their content when absent. */
  isSame?(stored: ConfigurationEntry, given: ConfigurationEntry): boolean;
  /** Undefined `before`: the record is new. */
  review?(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview;
  /** Checks an entry together with the other kinds. Throws `validation_failed`. */
  checkAgainst?(entry: ConfigurationEntry, target: TargetEntries): Promise<void>;
  /** Does all changes in one transaction, or none of them. Throws what the routes of the kind throw. */
  apply(changes: readonly PlannedChange[], options: ApplyOptions): Promise<void>;
}

/** An entry without the fields that are absent or have their default. */
export function entryOf(fields: object, defaults: ConfigurationEntry = {}): ConfigurationEntry {
  const set = Object.entries(fields as ConfigurationEntry).filter(([name, value]) => {
    return value !== undefined && value !== null && JSON.stringify(value) !== JSON.stringify(defaults[name]);
  });
  return Object.fromEntries(set);
}

/** The text in a field, which a check has proved to be there. */
export function textIn(entry: ConfigurationEntry, field: string): string {
  const text = entry[field];
  if (typeof text !== 'string') throw new Error(`The field ${field} of a checked entry is no text`);
  return text;
}

/** An entry without some of its fields. */
export function without(entry: ConfigurationEntry, ...fields: readonly string[]): ConfigurationEntry {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !fields.includes(name)));
}

/** Pages of a kind whose records are listed by a key. */
const PAGE_RECORDS = 100;

/** All records of a kind, page by page. `next`: at most `limit` records after one; undefined: the first ones. */
export async function allOf<Row>(
  next: (after: Row | undefined, limit: number) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await next(rows.at(-1), PAGE_RECORDS);
    rows.push(...page);
    if (page.length < PAGE_RECORDS) return rows;
  }
}
