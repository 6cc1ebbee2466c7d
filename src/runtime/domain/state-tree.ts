import { periodAt } from '../../variables/domain/period';
import { isOfType, VALUE_BYTES_MAX } from '../../variables/domain/value-type';
import type { Declaration, VariableScope, VariableValue } from '../../variables/domain/variable';

/** The stored document of a participant in a campaign: the values of scope `user`, and the system fields. */
export interface ParticipantDocument {
  readonly values: Readonly<Record<string, VariableValue>>;
  /** By name of a value that belongs to a period: its beginning in epoch milliseconds. Null: there is none. */
  readonly periods: Readonly<Record<string, number>> | null;
  readonly system: SystemFields;
}

/** Stored in the tree; participants can neither read nor write them (contract section 8). */
export interface SystemFields {
  /** The `sid` of the participant's token. */
  readonly sessionId: string | null;
}

/** A stored value of a variable with a period. A class, so that no other value can be taken for one. */
export class PeriodValue {
  constructor(
    readonly value: VariableValue,
    /** The beginning of the period in epoch milliseconds. */
    readonly periodStart: number,
  ) {}
}

export type StoredValue = VariableValue | PeriodValue;

/** Stored values by name; those of undeclared and archived variables may be among them. */
export type StoredValues = ReadonlyMap<string, StoredValue>;

/** The stored values of the owners that a request is about. */
export type StateValues = Readonly<Record<VariableScope, StoredValues>>;

/** The values of one scope as a read shows them; null: neither a value nor a default. Without a prototype. */
export type StateBranch = Readonly<Record<string, VariableValue | null>>;

/** The answer of a read: the three branches are always there. */
export type StateTree = Readonly<Record<VariableScope, StateBranch>>;

/** The stored values of scope `user` by name. */
export function valuesOf({
  values,
  periods,
}: Pick<ParticipantDocument, 'values' | 'periods'>): Map<string, StoredValue> {
  const byName = new Map<string, StoredValue>(Object.entries(values));
  for (const [name, start] of Object.entries(periods ?? {})) {
    const value = byName.get(name);
    if (value !== undefined && !(value instanceof PeriodValue)) byName.set(name, new PeriodValue(value, start));
  }
  return byName;
}

/** The document of these values: the other way round. */
export function documentOf(stored: StoredValues): Pick<ParticipantDocument, 'values' | 'periods'> {
  const values: [string, VariableValue][] = [];
  const periods: [string, number][] = [];
  for (const [name, each] of stored) {
    if (!(each instanceof PeriodValue)) values.push([name, each]);
    else {
      values.push([name, each.value]);
      periods.push([name, each.periodStart]);
    }
  }
  return {
    values: Object.fromEntries(values),
    periods: periods.length === 0 ? null : Object.fromEntries(periods),
  };
}

/** About the bytes of stored values; everything but their texts is small. */
export function textBytesOf(values: ParticipantDocument['values']): number {
  let bytes = 0;
  for (const value of Object.values(values)) if (typeof value === 'string') bytes += value.length;
  return bytes;
}

/** The variables that a campaign declares, without archived ones. */
export interface DeclaredVariables {
  of(scope: VariableScope): Iterable<Declaration>;
}

/**
 * About the bytes of the texts of these scopes where they have not been read: a quarter of the most that is declared. Nearly all
 * are smaller. A batch of the largest is four times as large as it should be, once.
 */
export function expectedTextBytes(declared: DeclaredVariables, scopes: readonly VariableScope[]): number {
  const variables = scopes.flatMap((scope) => Array.from(declared.of(scope)));
  return (VALUE_BYTES_MAX * variables.filter(({ type }) => type === 'string').length) / 4;
}

/**
 * The `state` of a read at a moment, in epoch milliseconds (contract section 8): exactly the declared variables, in the
 * order of the declarations.
 */
export function stateTree(declared: DeclaredVariables, values: StateValues, at: number): StateTree {
  const branch = (scope: VariableScope): StateBranch => readBranch(declared, scope, values[scope], at);
  return { user: branch('user'), campaign: branch('campaign'), app: branch('app') };
}

/** One branch of it. */
export function readBranch(
  declared: DeclaredVariables,
  scope: VariableScope,
  values: StoredValues,
  at: number,
): StateBranch {
  // Without a prototype, a name such as __proto__ is an ordinary name.
  const branch = Object.create(null) as Record<string, VariableValue | null>;
  for (const declaration of declared.of(scope)) {
    branch[declaration.name] = shownValue(declaration, values.get(declaration.name), at);
  }
  return branch;
}

/**
 * What a read at a moment, in epoch milliseconds, shows of a variable: its value, else its default, else null. The value
 * of an earlier period does not count. Throws for a stored value of another type.
 */
export function shownValue(
  declaration: Declaration,
  stored: StoredValue | undefined,
  at: number,
): VariableValue | null {
  const value = currentValue(declaration, stored, at);
  if (value === undefined) return declaration.default ?? null;
  if (isOfType(value, declaration.type)) return value;
  const { scope, name, type } = declaration;
  throw new Error(`The stored value of state.${scope}.${name} is a ${typeof value}, but it is declared as ${type}.`);
}

/**
 * Undefined: there is none, or it belongs to an earlier period. A value that was stored without a period, or for one of
 * another length, counts if its period began in this one (docs/adr/0064).
 */
function currentValue({ period }: Declaration, stored: StoredValue | undefined, at: number): VariableValue | undefined {
  if (period === undefined) return stored instanceof PeriodValue ? stored.value : stored;
  if (!(stored instanceof PeriodValue)) return undefined;
  return stored.periodStart >= periodAt(period, at).start ? stored.value : undefined;
}
