import { fieldsOf } from '../foreign-data';
import type { RunningService } from '../running-service';

/** A participant as the service lists it. */
export interface ExportedParticipant {
  readonly sub: string;
  /** By the names of variables. */
  readonly user: Readonly<Record<string, unknown>>;
  /** The item itself. */
  readonly item: object;
}

/** As many as the service lists at once. */
const PAGE_ITEMS = 200;

/** The participants of a campaign, page by page, each asked for when the one before is done with. Throws `ClientFailure`. */
export async function* participantPages(
  service: RunningService,
  campaignId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly ExportedParticipant[], void, void> {
  const path = `/v1/campaigns/${encodeURIComponent(campaignId)}/participants?limit=${PAGE_ITEMS}`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
    const { items, nextCursor } = fieldsOf(await service.get(page, { signal }));
    const participants = Array.isArray(items) ? items.map(participantIn) : [undefined];
    const isPage = nextCursor === null || typeof nextCursor === 'string';
    if (!isPage || !participants.every((each) => each !== undefined)) throw service.foreignAnswer(200);
    yield participants;
    cursor = nextCursor;
  }
}

/** The names of the variables of scope `user` that a campaign declares, in their order. Throws `ClientFailure`. */
export async function userVariables(
  service: RunningService,
  campaignId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const path = `/v1/campaigns/${encodeURIComponent(campaignId)}/variables`;
  const { variables } = fieldsOf(await service.get(path, { signal }));
  if (!Array.isArray(variables)) throw service.foreignAnswer(200);
  return variables.flatMap((variable) => {
    const { scope, name } = fieldsOf(variable);
    return scope === 'user' && typeof name === 'string' ? [name] : [];
  });
}

function participantIn(item: unknown): ExportedParticipant | undefined {
  const { sub, state } = fieldsOf(item);
  const { user } = fieldsOf(state);
  if (typeof sub !== 'string' || typeof user !== 'object' || user === null) return undefined;
  return { sub, user: fieldsOf(user), item: fieldsOf(item) };
}
