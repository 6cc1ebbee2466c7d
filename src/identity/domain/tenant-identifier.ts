import { identifierKey } from './customer-groups';
import type { Identifier } from './identifier';

/** An identifier of one workspace; a batch mixes workspaces. */
export interface TenantIdentifier extends Identifier {
  readonly tenantId: string;
}

/** One text for one identifier of one workspace: a workspace is a UUID, so that no two share one. */
export function tenantIdentifierKey({ tenantId, kind, value }: TenantIdentifier): string {
  return `${tenantId}${identifierKey(kind, value)}`;
}
