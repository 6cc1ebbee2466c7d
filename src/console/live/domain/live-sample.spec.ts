import type { LiveBundle, LiveEvent, LiveGroup } from './live-event';
import { isShown, type LiveFilter } from './live-filter';
import { bundleIn, messagesOf } from './live-message';
import { EVENTS_OF_GROUP_MAX, EVENTS_PER_FLUSH_MAX, LIVE_GROUPS_MAX, LiveSample } from './live-sample';

const aGroup = (fields: Partial<LiveGroup> = {}): LiveGroup => ({
  family: 'external',
  source: 'shop',
  eventType: 'purchase',
  result: 'accepted',
  ...fields,
});
const anEvent = (group: LiveGroup, id = 'order-1'): LiveEvent => ({
  ...group,
  at: '2026-01-01T00:00:00.000Z',
  eventId: null,
  id,
  codes: [],
});
const add = (sample: LiveSample, group: LiveGroup, times = 1): void => {
  for (let event = 0; event < times; event += 1) sample.add(group, () => anEvent(group));
};

describe('a live sample', () => {
  it('shows a rare refusal beside any number of events of a loud source, and counts what it does not show', () => {
    const sample = new LiveSample();
    const [loud, rare] = [aGroup(), aGroup({ source: 'app', result: 'refused' })];
    add(sample, loud, 10_000);
    add(sample, rare);
    const bundle = sample.take();
    expect(bundle?.events.filter(({ source }) => source === 'app')).toHaveLength(1);
    expect(bundle?.events).toHaveLength(EVENTS_OF_GROUP_MAX + 1);
    expect(bundle?.notShown).toEqual([{ group: loud, events: 10_000 - EVENTS_OF_GROUP_MAX }]);
    expect(sample.take()).toBeUndefined();
  });

  it('keeps a bounded number of events and groups, and loses none in the count', () => {
    const sample = new LiveSample();
    for (let source = 0; source < 5_000; source += 1) add(sample, aGroup({ source: `source-${source}` }), 2);
    const { events, notShown } = sample.take() as LiveBundle;
    expect(events).toHaveLength(EVENTS_PER_FLUSH_MAX);
    expect(notShown).toHaveLength(LIVE_GROUPS_MAX + 1);
    expect(notShown.at(-1)?.group).toBeNull();
    expect(events.length + notShown.reduce((sum, count) => sum + count.events, 0)).toBe(10_000);
  });

  it('makes no event that it does not show', () => {
    const sample = new LiveSample();
    let made = 0;
    const make = (): LiveEvent => {
      made += 1;
      return anEvent(aGroup());
    };
    for (let event = 0; event < 1_000; event += 1) sample.add(aGroup(), make);
    expect(made).toBe(EVENTS_OF_GROUP_MAX);
  });
});

describe('the messages of a bundle', () => {
  it('each fit into a notification, differ, and carry everything, with the longest names that there are', () => {
    const name = '\u{1}'.repeat(128);
    const groups = Array.from({ length: LIVE_GROUPS_MAX }, (_unused, n) =>
      aGroup({ source: name, eventType: `${name}${n}` }),
    );
    const events = groups.slice(0, EVENTS_PER_FLUSH_MAX).map((group) => anEvent(group, '€'.repeat(256)));
    const notShown = [...groups.map((group) => ({ group, events: 3 })), { group: null, events: 1 }];
    const messages = messagesOf('tenant', { events, notShown });
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThan(8_000);
    expect(new Set(messages).size).toBe(messages.length);
    const bundles = messages.map((message) => bundleIn(message));
    expect(bundles.flatMap((bundle) => bundle?.events)).toEqual(events);
    expect(bundles.flatMap((bundle) => bundle?.notShown)).toEqual(notShown);
    expect(new Set(bundles.map((bundle) => bundle?.tenantId))).toEqual(new Set(['tenant']));
  });

  it('that cannot be read are none', () => {
    for (const text of ['', '{', 'null', '[]', '{"tenantId":1}', '{"tenantId":"t","events":{}}']) {
      expect(bundleIn(text)).toBeUndefined();
    }
  });
});

describe('a live filter', () => {
  const filter = (include: object, exclude: object = {}): LiveFilter => ({ include, exclude });
  const [shop, unnamed] = [aGroup(), aGroup({ source: null, result: 'refused' })];

  it('shows what is in each list of names, and nothing that is in a list to exclude', () => {
    expect(isShown(filter({}), shop)).toBe(true);
    expect(isShown(filter({ source: new Set(['app', 'shop']) }), shop)).toBe(true);
    expect(isShown(filter({ source: new Set(['shop']), result: new Set(['refused']) }), shop)).toBe(false);
    expect(isShown(filter({}, { source: new Set(['shop']) }), shop)).toBe(false);
    expect(isShown(filter({ source: new Set(['shop']) }, { eventType: new Set(['purchase']) }), shop)).toBe(false);
  });

  it('has events without a readable name in no list', () => {
    expect(isShown(filter({ source: new Set(['shop']) }), unnamed)).toBe(false);
    expect(isShown(filter({}, { source: new Set(['shop']) }), unnamed)).toBe(true);
    expect(isShown(filter({}, { result: new Set(['refused']) }), unnamed)).toBe(false);
  });
});
