import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { anExternalEvent } from './builders';

/** How a client that keeps its connection and sends nothing twice came to its end. */
export interface LastAnswer {
  /** Statuses of all answers. */
  readonly statuses: ReadonlySet<number | undefined>;
  /** The header `Connection` of the last answer before a request failed. */
  readonly connection: string | undefined;
}

/** Sends one event after the other, on one connection as long as the service keeps it, until a request fails. */
export async function sendUntilGone(url: string, adminKey: string): Promise<LastAnswer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses = new Set<number | undefined>();
  let connection: string | undefined;
  for (;;) {
    const answer = await sendEvent(url, adminKey, agent).catch(() => undefined);
    if (answer === undefined) return { statuses, connection };
    statuses.add(answer.statusCode);
    connection = answer.headers.connection;
  }
}

async function sendEvent(url: string, adminKey: string, agent: Agent): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const outgoing = request(`${url}/v1/external-events`, { method: 'POST', headers, agent });
  outgoing.end(JSON.stringify(anExternalEvent()));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer;
}
