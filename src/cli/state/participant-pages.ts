import { fieldsOf } from '../../client/foreign-data';
import type { Reply, RequestOptions, ServiceClient } from '../../client/service-client';

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
  client: ServiceClient,
  campaignId: string,
  options: RequestOptions,
): AsyncGenerator<readonly ExportedParticipant[], void, void> {
  const path = `/v1/campaigns/${encodeURIComponent(campaignId)}/participants?limit=${PAGE_ITEMS}`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const reply: Reply = await client.get(
      cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
      options,
    );
    const { items, nextCursor } = fieldsOf(reply.body);
    const participants = Array.isArray(items) ? items.map(participantIn) : [undefined];
    const isPage = nextCursor === null || typeof nextCursor === 'string';
    if (reply.status !== 200 || !isPage || !participants.every((each) => each !== undefined))
      throw client.refusal(reply);
    yield participants;
    cursor = nextCursor;
  }
}

/** The names of the variables of scope `user` that a campaign declares, in their order. Throws `ClientFailure`. */
export async function userVariables(
  client: ServiceClient,
  campaignId: string,
  options: RequestOptions,
): Promise<string[]> {
  const reply = await client.get(`/v1/campaigns/${encodeURIComponent(campaignId)}/variables`, options);
  const { variables } = fieldsOf(reply.body);
  if (reply.status !== 200 || !Array.isArray(variables)) throw client.refusal(reply);
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
