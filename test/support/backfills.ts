import type { Client } from './client';
import { until } from './until';

type Fields = Readonly<Record<string, unknown>>;

/** Everything that was received until now. */
export const ALL_TIME = { from: '2000-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };

const pathOf = (campaignId: string, name: string): string => `/v1/campaigns/${campaignId}/reactions/${name}`;

/** The id of a backfill that was started. */
export async function startBackfill(
  client: Client,
  campaignId: string,
  name: string,
  fields: Fields = {},
): Promise<string> {
  const { status, body } = await client.post(`${pathOf(campaignId, name)}:backfill`, { ...ALL_TIME, ...fields });
  if (status !== 202) throw new Error(`The backfill was refused: ${JSON.stringify(body)}`);
  return body.jobId;
}

export async function readBackfill(client: Client, campaignId: string, name: string, jobId: string): Promise<any> {
  const { status, body } = await client.get(`${pathOf(campaignId, name)}/backfills/${jobId}`);
  if (status !== 200) throw new Error(`The backfill was not read: ${JSON.stringify(body)}`);
  return body;
}

/** The backfill once it is over. `clientOf`: the service may be another process by then. */
export async function backfillOnce(
  clientOf: () => Client,
  campaignId: string,
  name: string,
  jobId: string,
  seconds = 60,
): Promise<any> {
  let found: any;
  await until(async () => {
    found = await readBackfill(clientOf(), campaignId, name, jobId);
    return !['queued', 'running'].includes(found.state);
  }, seconds);
  return found;
}

export async function backfill(
  client: Client,
  campaignId: string,
  name: string,
  fields: Fields = {},
  seconds = 60,
): Promise<any> {
  const jobId = await startBackfill(client, campaignId, name, fields);
  return backfillOnce(() => client, campaignId, name, jobId, seconds);
}
