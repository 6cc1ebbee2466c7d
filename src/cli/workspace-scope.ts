import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import type { Principal } from '../platform/auth/principal';
import { WORKSPACE_HEADER } from '../platform/auth/workspace-header';
import { workspaceName } from './workspaces-command';

/** The option of every command that works in one workspace. */
export function workspaceOption(): Option {
  return new Option('-w, --workspace <name>', 'the workspace').argParser(workspaceName).default('default');
}

/** The principal of the commands. Who can run them can read the database, so they may do everything in a workspace. */
export async function operatorOf(parts: INestApplicationContext, workspace: string): Promise<Principal> {
  const { WorkspacesService } = await import('../workspaces/workspaces.service.js');
  const found = await parts.get(WorkspacesService).find(workspace);
  if (found === null) {
    throw new Error(`There is no workspace "${workspace}". Make it: npm run cds -- workspaces create ${workspace}`);
  }
  const { tenantId } = found;
  return { tenantId, credentialId: 'command line', scopes: new Set(['admin']), sources: null, expiresAt: null };
}

/** For an issuer and audience that another workspace has registered before. */
export function workspaceHint(workspace: string): string {
  return (
    'Another workspace registered this issuer and audience first: requests with its tokens need the header ' +
    `"${WORKSPACE_HEADER}: ${workspace}".`
  );
}
