import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 20;

/** Answers all calls but those to /silent, and notes when they came. */
export async function startReceiver() {
  const arrivals = new Map();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/silent') return;
    const id = request.headers['webhook-id'];
    arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()]);
    request.on('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Resolves once each of these events has arrived at so many endpoints. */
    until: (ids, endpoints) => until(() => ids.every((id) => (arrivals.get(id)?.length ?? 0) >= endpoints)),
    /** Milliseconds from the answer to arrival, of every delivery of these events; waits for the last one. */
    waitsOf: async (acknowledged, endpoints) => {
      const ids = [...acknowledged.keys()];
      await until(() => ids.every((id) => (arrivals.get(id)?.length ?? 0) >= endpoints));
      return [...acknowledged].flatMap(([id, at]) =>
        (arrivals.get(id) ?? []).map((arrived) => Math.max(0, arrived - at)),
      );
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function until(holds) {
  for (const patience = performance.now() + PATIENCE_MS; !holds(); await pause(LOOK_AGAIN_MS)) {
    if (performance.now() > patience) throw new Error('Deliveries did not arrive.');
  }
}
