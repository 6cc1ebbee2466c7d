import { WORKSPACE_HEADER } from '../platform/auth/workspace-header';

/** For an issuer and audience that another workspace has registered before. */
export function workspaceHint(workspace: string): string {
  return (
    'Another workspace registered this issuer and audience first: requests with its tokens need the header ' +
    `"${WORKSPACE_HEADER}: ${workspace}".`
  );
}
