import type { INestApplicationContext } from '@nestjs/common';
import type { Principal } from '../platform/auth/principal';

/** Whoever can run this tool can read the database: in a workspace it may do everything. */
export async function operatorOf(parts: INestApplicationContext, workspace: string): Promise<Principal> {
  const { WorkspacesService } = await import('../workspaces/workspaces.service.js');
  const found = await parts.get(WorkspacesService).find(workspace);
  if (found === null) {
    throw new Error(`There is no workspace "${workspace}". Make it: npm run cds -- workspaces create ${workspace}`);
  }
  const { tenantId } = found;
  return { tenantId, credentialId: 'command line', scopes: new Set(['admin']), sources: null, expiresAt: null };
}
