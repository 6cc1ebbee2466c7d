import type { IncomingHttpHeaders } from 'node:http';

/** Says which workspace a participant's token is meant for, where several have registered its issuer and audience. */
export const WORKSPACE_HEADER = 'X-Workspace';

const FIELD = 'x-workspace';

/** The name that a request sends, as it is written; undefined without the header. An empty one names no workspace. */
export function namedWorkspace(headers: IncomingHttpHeaders): string | undefined {
  const name = headers[FIELD];
  return Array.isArray(name) ? name.join(', ') : name;
}
