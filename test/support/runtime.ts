import { randomUUID } from 'node:crypto';
import { answered, aWorkspace, type Answer, type Client, type Workspace } from './client';
import { untilBlocked, withClient } from './database';
import { aTokenIssuer, type TokenIssuer, type TokenIssuerOptions } from './tokens';

type Fields = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly path: string;
  readonly op: string;
  readonly value: unknown;
}

/** A workspace that no other test knows, with an issuer of tokens and a campaign. */
export interface Campaign {
  readonly workspace: Workspace;
  readonly campaignId: string;
  readonly issuer: TokenIssuer;
  /** A participant whose token names the campaign; `claims` are beside its own and instead of them. */
  readonly participant: (claims?: Fields) => Client;
  /** Declares `state.{scope}.{name}`. */
  define(path: string, type: string, fields?: Fields): Promise<void>;
  archive(path: string): Promise<void>;
}

export async function aCampaign(
  service: { readonly url: string; readonly databaseUrl: string },
  options: TokenIssuerOptions & { readonly campaignId?: string } = {},
): Promise<Campaign> {
  const workspace = await aWorkspace(service);
  return campaignOf(workspace, await aTokenIssuer(workspace.admin, options), options.campaignId);
}

/** Another campaign of a workspace. */
export function campaignOf(
  workspace: Workspace,
  issuer: TokenIssuer,
  campaignId = `campaign-${randomUUID()}`,
): Campaign {
  const change = async (verb: string, body: Fields): Promise<void> => {
    const answer = await workspace.admin.post(`/v1/campaigns/${campaignId}/variables:${verb}`, body);
    if (answer.status !== 200) throw new Error(`variables:${verb} was refused: ${JSON.stringify(answer.body)}`);
  };
  const address = (path: string) => ({ scope: path.split('.')[1], name: path.split('.')[2] });
  return {
    workspace,
    campaignId,
    issuer,
    participant: (claims) => issuer.participant({ campaign_id: campaignId, ...claims }),
    define: (path, type, fields) => change('define', { ...address(path), type, ...fields }),
    archive: (path) => change('archive', address(path)),
  };
}

export const set = (path: string, value: unknown): Operation => ({ path, op: 'set', value });
export const inc = (path: string, value: unknown = 1): Operation => ({ path, op: 'inc', value });
export const dec = (path: string, value: unknown = 1): Operation => ({ path, op: 'dec', value });

export function mutate(client: Client, ops: unknown, fields: Fields = {}): Promise<Answer> {
  return client.post('/v1/runtime/state:mutate', { ops, ...fields });
}

/** As a client does it: what a busy service did not take is sent again under its id. */
export function mutateInTheEnd(client: Client, ops: unknown, mutationId: string = randomUUID()): Promise<Answer> {
  return answered(() => mutate(client, ops, { mutation_id: mutationId }));
}

/** The state that a participant reads. */
export async function stateOf(client: Client, query = ''): Promise<any> {
  const { status, body } = await client.get(`/v1/runtime/state${query}`);
  if (status !== 200) throw new Error(`The state was not read: ${JSON.stringify(body)}`);
  return body.state;
}

/** An answer in one line: its status and what it says. */
export function summary({ status, body }: Answer): string {
  return `${status} ${body?.error_code ?? body?.status ?? ''}`.trim();
}

/** Mutations wait a little longer than this for rows that another node holds. */
const HELD_MS_MAX = 1_000;

/**
 * Lets two nodes meet at the rows of a workspace that `from` names, `table WHERE tenant_id = $1 …`, in the middle of what both
 * of them lock: each has come there in its own order, and then they go on. They meet once more when this test held the rows
 * for longer than they wait, and all were told to repeat.
 */
export async function meetAt(
  databaseUrl: string,
  from: string,
  tenantId: string,
  sends: readonly (() => Promise<Answer>[])[],
): Promise<Answer[]> {
  return withClient(databaseUrl, async (holder) => {
    for (;;) {
      await holder.query('BEGIN');
      await holder.query(`SELECT 1 FROM ${from} FOR UPDATE`, [tenantId]);
      const heldFrom = Date.now();
      const sent = sends.flatMap((send) => send());
      await untilBlocked(databaseUrl, 'cds-mutations', sends.length);
      await holder.query('COMMIT');
      const wasLong = Date.now() - heldFrom > HELD_MS_MAX;
      const answers = await Promise.all(sent);
      if (!wasLong || answers.some(({ status }) => status !== 503)) return answers;
    }
  });
}
