import type { ConnectionSettings } from './connection-settings';
import type { OfWorkspace } from './pipelined-connection';

/** What one transaction takes; its workspace, where each transaction is of one. */
export interface TransactionShare<Item> {
  readonly of: readonly OfWorkspace[];
  readonly items: readonly Item[];
}

/** Divides work among transactions: one for all of it, or one for each workspace (`ConnectionSettings.isOneWorkspace`). */
export function transactionShares<Item>(
  { isOneWorkspace }: Pick<ConnectionSettings, 'isOneWorkspace'>,
  items: readonly Item[],
  tenantOf: (item: Item) => string,
): TransactionShare<Item>[] {
  if (items.length === 0) return [];
  if (isOneWorkspace !== true) return [{ of: [], items }];
  const shares = new Map<string, Item[]>();
  for (const item of items) {
    const own = shares.get(tenantOf(item));
    if (own === undefined) shares.set(tenantOf(item), [item]);
    else own.push(item);
  }
  return [...shares].map(([tenantId, own]) => ({ of: [{ tenantId }], items: own }));
}
