import type { Statement } from './statement';

/** The shards that hold the rows of the same workspaces: their names by their tables. */
export type ShardNames = ReadonlyMap<string, string>;

/** Where a node has the rows of a workspace. */
export interface WorkspaceShards {
  /** The shard of `events`; its number stands for all shards that are co-located with it. */
  readonly id: string;
  readonly names: ShardNames;
  /** Called when they are not there any more, so that they are looked up again. */
  readonly onGone: () => void;
}

/**
 * A text for shards in place of their tables, which come behind FROM, JOIN, INTO or UPDATE; constraints that ON CONFLICT names
 * have the number of the shard at their end, too.
 */
export function onShard(text: string, names: ShardNames): string {
  let into = '';
  return text.replaceAll(/\b(FROM|JOIN|INTO|UPDATE|ON CONSTRAINT) (\w+)\b/g, (all, words: string, name: string) => {
    if (words === 'ON CONSTRAINT') return `${all}${into}`;
    const shard = names.get(name);
    if (shard === undefined) return all;
    if (words === 'INTO') into = shard.slice(name.length);
    return `${words} ${shard}`;
  });
}

/** Statements that were made for shards, remembered as long as these are where they are. */
export class ShardStatements<Shards extends object> {
  private readonly made = new WeakMap<Shards, Map<Statement, Statement>>();

  of(shards: Shards, statement: Statement, make: () => Statement): Statement {
    const known = this.made.get(shards) ?? new Map<Statement, Statement>();
    this.made.set(shards, known);
    const found = known.get(statement) ?? make();
    known.set(statement, found);
    return found;
  }
}
