import { type Declaration, VARIABLE_SCOPES, type VariableScope } from './variable';

/** Of a campaign that never declared anything. */
export const NO_VERSION = '0';

interface Branch {
  readonly list: readonly Declaration[];
  readonly byName: ReadonlyMap<string, Declaration>;
}

/**
 * The variables that a campaign declares, to be looked up by text from clients. Immutable.
 *
 * Names are keys of maps, never of objects: `constructor` is a variable only in a campaign that declares it.
 */
export class Declarations {
  /** Those of an unknown campaign. */
  static readonly NONE = new Declarations([]);

  private readonly branches: ReadonlyMap<VariableScope, Branch>;

  /** `version`: increases with every change of the campaign's declarations. */
  private constructor(
    declarations: readonly Declaration[],
    readonly version = NO_VERSION,
  ) {
    this.branches = new Map(VARIABLE_SCOPES.map((scope) => [scope, branchOf(scope, declarations)]));
  }

  /** No two of the declarations may have the same scope and name. */
  static from(declarations: readonly Declaration[], version = NO_VERSION): Declarations {
    const isNone = declarations.length === 0 && version === NO_VERSION;
    return isNone ? Declarations.NONE : new Declarations(declarations, version);
  }

  /** Those of these declarations that are in `current`, too, as they are declared there. */
  updatedBy(current: Declarations): Declarations {
    const both = VARIABLE_SCOPES.flatMap((scope) => current.of(scope)).filter(
      ({ scope, name }) => this.get(scope, name) !== undefined,
    );
    return new Declarations(both, current.version);
  }

  get(scope: VariableScope, name: string): Declaration | undefined {
    return this.branches.get(scope)?.byName.get(name);
  }

  /** The declarations of one scope, ordered by name. */
  of(scope: VariableScope): readonly Declaration[] {
    return this.branches.get(scope)?.list ?? [];
  }
}

/** The order of lists: `user`, `campaign`, `app`, then by name in the order of code points. */
export function byScopeAndName(a: Pick<Declaration, 'scope' | 'name'>, b: Pick<Declaration, 'scope' | 'name'>): number {
  const difference = VARIABLE_SCOPES.indexOf(a.scope) - VARIABLE_SCOPES.indexOf(b.scope);
  if (difference !== 0) return difference;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}

function branchOf(scope: VariableScope, declarations: readonly Declaration[]): Branch {
  const list = declarations.filter((each) => each.scope === scope).sort(byScopeAndName);
  return { list, byName: new Map(list.map((each) => [each.name, each])) };
}
