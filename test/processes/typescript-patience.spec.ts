import { createClient } from '../../clients/typescript/src/client';
import { BATCH_RETRY_DEFAULTS, pauseMs, RETRY_DEFAULTS } from '../../clients/typescript/src/retry';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const MS_MAX = 120_000;
const EVENTS = 20_000;
const REFUSING_MS = 8_000;
const SOURCE = 'shop.orders';

const eventOf = (index: number) => ({
  source: SOURCE,
  external_event_id: `order-${index}`,
  type: 'purchase',
  identity: { type: 'EXTERNAL', value: `customer-${index % 100}` },
});

describe('the patience of the client, as it is when nothing else is said', () => {
  it(
    'brings a stream over a service that is killed, away for seconds and started again, and stores each event once',
    async () => {
      const environment = {
        DATABASE_URL: await freshDatabaseUrl('patience'),
        SECRETS_KEY: 'patience-'.padEnd(40, 'x'),
        BOOTSTRAP_ADMIN_KEY: 'patience-admin-key-'.padEnd(40, 'x'),
      };
      const first = await startServiceProcess(environment);
      const refused: number[] = [];
      const counting: typeof fetch = (...request) =>
        fetch(...request).catch((error: unknown) => {
          refused.push(performance.now());
          throw error;
        });
      const { events } = createClient({ baseUrl: first.url, apiKey: first.adminKey, fetch: counting });
      const outcomes = new Map<string, string>();
      let restarted: ReturnType<typeof startServiceProcess> | undefined;
      const restart = async (): ReturnType<typeof startServiceProcess> => {
        await first.kill();
        const killedAt = performance.now();
        await until(() => (refused.at(-1) ?? 0) - killedAt >= REFUSING_MS);
        return startServiceProcess({ ...environment, PORT: new URL(first.url).port });
      };
      try {
        const list = Array.from({ length: EVENTS }, (_, index) => eventOf(index));
        for await (const { event, result } of events.stream(list)) {
          if (outcomes.size === 1) restarted = restart();
          outcomes.set(event.external_event_id, result.status);
        }
      } finally {
        await restarted?.then((service) => service.stop());
      }
      expect(outcomes.size).toBe(EVENTS);
      expect(new Set(outcomes.values())).toEqual(expectedStatuses(outcomes));
      const [count] = await rowsOf<{ stored: number; names: number }>(
        environment.DATABASE_URL,
        'SELECT count(*)::int AS stored, count(DISTINCT external_event_id)::int AS names FROM events',
      );
      expect(count).toEqual({ stored: EVENTS, names: EVENTS });
    },
    MS_MAX,
  );

  it.each([
    ['a call', RETRY_DEFAULTS, 60_000],
    ['a request of a stream', BATCH_RETRY_DEFAULTS, 300_000],
  ])('tries %s again until its time is over, with pauses that grow to seconds', (_, policy, totalMs) => {
    for (const askedMs of [undefined, 1_000]) {
      const pauses: number[] = [];
      let [waitedMs, failures] = [0, 1];
      for (;;) {
        const pause = pauseMs(failures, policy, { askedMs, leftMs: totalMs - waitedMs });
        if (pause === undefined || failures >= policy.attemptsMax) break;
        pauses.push(pause);
        waitedMs += pause;
        failures += 1;
      }
      expect(waitedMs).toBeGreaterThan(totalMs - 1_200 - policy.pauseMsMin);
      expect(waitedMs).toBeLessThan(totalMs);
      expect(Math.max(...pauses)).toBeGreaterThan(2_000);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(policy.pauseMsMax);
    }
  });
});

/** At least one request was answered; what was under way when the service was killed may have been stored. */
function expectedStatuses(outcomes: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...outcomes.values()].includes('duplicate') ? ['accepted', 'duplicate'] : ['accepted']);
}

describe('a request of a stream that fails for good', () => {
  const list = Array.from({ length: 80 }, (_, index) => eventOf(index));
  const options = { itemsMax: 10, concurrency: 4 };
  const sent: number[] = [];
  let refused = false;

  /** Once four are under way the second is refused; the others are answered after it. */
  const refusing: typeof fetch = async (_address, init) => {
    const { items } = JSON.parse(init?.body as string) as { items: { external_event_id: string }[] };
    const index = Number(items[0]?.external_event_id.slice('order-'.length));
    sent.push(index);
    await until(() => sent.includes(30));
    if (index === 10) {
      refused = true;
      return answer(403, { error_code: 'source_not_allowed', message: 'Not this source.' });
    }
    await until(() => refused);
    const results = items.map(({ external_event_id }) => ({ status: 'accepted', event_id: external_event_id }));
    return answer(200, { results });
  };
  const answer = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });
  const retry = { attemptsMax: 2, pauseMsMin: 1 };
  const clientBy = (answers: typeof fetch) =>
    createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', retry, fetch: answers });

  beforeEach(() => {
    sent.splice(0);
    refused = false;
  });

  it('throws after the results of the others, and begins no further one', async () => {
    const given: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const { event } of clientBy(refusing).events.stream(list, options))
        given.push(event.external_event_id);
    };
    await expect(reading()).rejects.toMatchObject({ status: 403, errorCode: 'source_not_allowed' });
    const others = [...list.slice(0, 10), ...list.slice(20, 40)];
    expect(given).toEqual(others.map(({ external_event_id }) => external_event_id));
    expect(sent).toEqual([0, 10, 20, 30]);
  });

  it('leaves the results of the others in the error of a batch, each at its place', async () => {
    const error = (await clientBy(refusing)
      .events.batch(list, options)
      .catch((thrown: unknown) => thrown)) as {
      results: readonly ({ event_id: string } | undefined)[];
    };
    expect(error).toMatchObject({ status: 403, errorCode: 'source_not_allowed' });
    expect(error.results.map((result) => result?.event_id)).toEqual(
      list.slice(0, 40).map(({ external_event_id }, index) => {
        return index >= 10 && index < 20 ? undefined : external_event_id;
      }),
    );
  });

  it('gives what was answered before when its events fail', async () => {
    function* broken() {
      yield* list.slice(0, 40);
      throw new Error('the file ended');
    }
    const given: string[] = [];
    const reading = async (): Promise<void> => {
      const parts = { ...options, concurrency: 8 };
      const { events } = clientBy(accepting);
      for await (const { event } of events.stream(broken(), parts)) given.push(event.external_event_id);
    };
    await expect(reading()).rejects.toThrow('the file ended');
    expect(given).toHaveLength(40);
  });

  it('keeps what the service has said of some of its events when the others can no longer be sent', async () => {
    let requests = 0;
    const cut: typeof fetch = () => {
      requests += 1;
      if (requests > 1) return Promise.resolve(answer(401, { error_code: 'invalid_api_key', message: 'Revoked.' }));
      const unavailable = { status: 'error', error_code: 'unavailable', message: 'Not now.', details: [] };
      return Promise.resolve(answer(200, { results: [{ status: 'accepted', event_id: 'known' }, unavailable] }));
    };
    expect(await clientBy(cut).events.batch(list.slice(0, 2))).toMatchObject([
      { status: 'accepted', event_id: 'known' },
      { status: 'error', error_code: 'unavailable' },
    ]);
  });

  const accepting: typeof fetch = (_address, init) => {
    const { items } = JSON.parse(init?.body as string) as { items: { external_event_id: string }[] };
    const results = items.map(({ external_event_id }) => ({ status: 'accepted', event_id: external_event_id }));
    return Promise.resolve(answer(200, { results }));
  };
});
