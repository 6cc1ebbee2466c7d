import type { ConnectionSettings } from './connection-settings';

/** What one transaction takes, and the workspaces that it is of. */
interface TransactionShare<Item> {
  readonly tenantIds: readonly string[];
  readonly items: readonly Item[];
}

/** The workspaces of some work, each once. */
export function workspacesOf(items: readonly { readonly tenantId: string }[]): Set<string> {
  return new Set(items.map(({ tenantId }) => tenantId));
}

/** Divides work among transactions: one for all of it, or one for each workspace (`ConnectionSettings.isOneWorkspace`). */
export function transactionShares<Item>(
  { isOneWorkspace }: Pick<ConnectionSettings, 'isOneWorkspace'>,
  items: readonly Item[],
  tenantOf: (item: Item) => string,
): TransactionShare<Item>[] {
  if (items.length === 0) return [];
  const shares = new Map<string, Item[]>();
  for (const item of items) {
    const own = shares.get(tenantOf(item));
    if (own === undefined) shares.set(tenantOf(item), [item]);
    else own.push(item);
  }
  if (isOneWorkspace !== true) return [{ tenantIds: [...shares.keys()], items }];
  return [...shares].map(([tenantId, own]) => ({ tenantIds: [tenantId], items: own }));
}
