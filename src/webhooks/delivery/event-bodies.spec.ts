import type { LoggedEvent } from '../../ingest/domain/event';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { TimeSlice, type Steps } from '../../platform/values/time-slice';
import { EventBodies } from './event-bodies';

const AT = new Date('2026-01-02T03:04:05.678Z');

/** So many take longer than a slice. */
const MANY = Object.fromEntries(Array.from({ length: 10_000 }, (_, number) => [`note${number}`, 'jane@example.com']));

function eventOf(eventId: string, properties: object = { note: 'Write to jane@example.com' }): LoggedEvent {
  return {
    eventId,
    family: 'external',
    source: 'shop',
    externalEventId: eventId,
    eventType: 'order_placed',
    eventTypeVersion: null,
    occurredAt: AT,
    receivedAt: AT,
    profileId: 'profile',
    identity: { type: 'EMAIL', value: 'jane@example.com' },
    properties: properties as LoggedEvent['properties'],
  };
}

/** Work of one slice and a little. */
function* useUp(): Steps<void> {
  const began = performance.now();
  while (performance.now() - began < 12) yield undefined;
}

function bodies(): EventBodies {
  const personal = new PersonalProperties();
  personal.answerWith({
    namesOf: (_tenantId, types) => Promise.resolve(new Map(types.map((type) => [type, new Set<string>()]))),
    unregisteredAmong: () => Promise.resolve(new Set()),
  });
  return new EventBodies(personal);
}

describe('bodies of calls about events', () => {
  it('are masked, unless the endpoint may see everything, and made once for each of both', async () => {
    const made = bodies();
    const event = eventOf('1');
    const body = (isMasked: boolean): Promise<string> => made.of('a', event, 'customer', isMasked);
    expect(await body(true)).not.toContain('jane@example.com');
    expect(await body(false)).toContain('jane@example.com');
    expect(body(true)).toBe(body(true));
  });

  it('do not let an answer that is made in slices wait for all that are claimed', async () => {
    const made = bodies();
    const all = Array.from({ length: 20 }, (_, number) =>
      made.of('a', eventOf(String(number), MANY), 'customer', true),
    );
    // The bodies come to their turns first.
    await new Promise(setImmediate);
    let turns = 0;
    let isCounting = true;
    const count = (): void => {
      turns += 1;
      if (isCounting) setImmediate(count);
    };
    setImmediate(count);
    const answer = new TimeSlice();
    for (let slices = 0; slices < 3; slices += 1) {
      await answer.run(useUp());
    }
    isCounting = false;
    // Four or five pauses, two turns each; behind all bodies they were eighty.
    expect(turns).toBeLessThan(40);
    await Promise.all(all);
  });

  it('are made for workspaces in turn', async () => {
    const made = bodies();
    const order: string[] = [];
    const make = async (tenantId: string, number: number): Promise<void> => {
      await made.of(tenantId, eventOf(`${tenantId}${number}`), 'customer', true);
      order.push(tenantId);
    };
    await Promise.all([...Array.from({ length: 30 }, (_, number) => make('a', number)), make('b', 0)]);
    expect(order.indexOf('b')).toBeLessThan(5);
  });
});
