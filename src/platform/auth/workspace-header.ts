import type { IncomingHttpHeaders } from 'node:http';

/** Names the workspace of a participant token when several workspaces have registered its issuer and audience. */
export const WORKSPACE_HEADER = 'X-Workspace';

const FIELD = 'x-workspace';

/** The value of the header as it was sent; undefined without the header. An empty value names no workspace. */
export function namedWorkspace(headers: IncomingHttpHeaders): string | undefined {
  const name = headers[FIELD];
  return Array.isArray(name) ? name.join(', ') : name;
}
