import type { DueEndpoint } from './claimed-delivery';
import { DeliverySlots, SLOTS } from './delivery-slots';
import { DueEndpoints } from './due-endpoints';

const NOW = 1_000;

const anEndpoint = (endpointId: string, fields: Partial<DueEndpoint> = {}): DueEndpoint => ({
  tenantId: 'acme',
  endpointId,
  url: `https://${endpointId}.example.com/hooks`,
  unmask: false,
  failingSince: null,
  enabledAt: null,
  secret: Buffer.alloc(0),
  previousSecret: null,
  olderSecret: null,
  ...fields,
});

const noneIsHeldUp = (_tenantId: string): boolean => false;

const sharesOf = (due: DueEndpoints, slots = new DeliverySlots(), isHeldUp = noneIsHeldUp): Record<string, number> =>
  Object.fromEntries(due.share(slots, isHeldUp).map(({ endpoint, most }) => [endpoint.endpointId, most]));

it('shares the calls among the endpoints that were announced, and takes no slot itself', () => {
  const due = new DueEndpoints();
  const [first, second, quiet] = ['first', 'second', 'quiet'].map((id) => anEndpoint(id));
  for (const endpoint of [first!, second!, quiet!]) due.remember(endpoint);
  due.announce([first!, second!, first!]);
  const slots = new DeliverySlots();
  expect(sharesOf(due, slots)).toEqual({ first: SLOTS.perEndpoint, second: SLOTS.perEndpoint });
  expect(slots.inUse).toBe(0);
});

it('polls the queues at once for an endpoint that it does not know', async () => {
  const due = new DueEndpoints();
  const reads = { first: () => Promise.resolve([]) };
  await due.poll(reads, { query: () => Promise.resolve([]) }, NOW);
  expect(due.untilPoll(NOW)).toBeGreaterThan(0);
  due.announce([anEndpoint('new')]);
  expect(due.untilPoll(NOW)).toBe(0);
  expect(sharesOf(due)).toEqual({});
});

it('claims again where a claim was full or something was announced meanwhile, and nowhere else', () => {
  const due = new DueEndpoints();
  const endpoints = ['full', 'empty', 'announced'].map((id) => anEndpoint(id));
  for (const endpoint of endpoints) due.remember(endpoint);
  due.announce(endpoints);
  const shares = due.share(new DeliverySlots(), noneIsHeldUp);
  due.beginClaim(shares);
  due.announce([endpoints[2]!]);
  due.endClaim(shares, new Map([...[['full', SLOTS.perEndpoint] as const], ...[['empty', 3] as const]]));
  expect(Object.keys(sharesOf(due)).toSorted()).toEqual(['announced', 'full']);
});

it('gives an endpoint that fails its few calls from the moment when that is known', () => {
  const due = new DueEndpoints();
  due.remember(anEndpoint('shop'));
  due.remember(anEndpoint('shop', { failingSince: new Date(0) }));
  due.announce([anEndpoint('shop')]);
  expect(sharesOf(due)).toEqual({ shop: SLOTS.perFailingEndpoint });
});

/** One more endpoint is due, of this workspace. */
function announce(due: DueEndpoints, tenantId: string, endpointId: string): void {
  const endpoint = anEndpoint(endpointId, { tenantId });
  due.remember(endpoint);
  due.announce([endpoint]);
}

it('shares the calls among workspaces, however many endpoints one of them has', () => {
  const due = new DueEndpoints();
  for (let n = 0; n < 50; n += 1) announce(due, 'acme', `acme-${n}`);
  announce(due, 'beta', 'beta-0');
  expect(sharesOf(due)['beta-0']).toBe(SLOTS.perEndpoint);
});

it('comes to each endpoint of each workspace, if one slot becomes free each time', () => {
  const due = new DueEndpoints();
  const endpointIds = ['acme', 'beta'].flatMap((tenantId) =>
    [0, 1, 2].map((n) => [tenantId, `${tenantId}-${n}`] as const),
  );
  for (const [tenantId, endpointId] of endpointIds) announce(due, tenantId, endpointId);
  const slots = new DeliverySlots();
  const others = Array.from({ length: SLOTS.inAll }, (_, n) => ({
    tenantId: `w${n}`,
    endpointId: `e${n}`,
    host: `h${n}`,
    isFailing: false,
  }));
  for (const other of others.slice(1)) slots.take(other);
  const served = Array.from({ length: 6 }, () => Object.keys(sharesOf(due, slots))).flat();
  expect(served.toSorted()).toEqual(endpointIds.map(([, endpointId]) => endpointId));
});

it('gives nothing to workspaces that are held up, and their slots to the others', () => {
  const due = new DueEndpoints();
  for (let n = 0; n < 10; n += 1) announce(due, 'acme', `acme-${n}`);
  announce(due, 'beta', 'beta-0');
  expect(sharesOf(due, new DeliverySlots(), (tenantId) => tenantId === 'acme')).toEqual({
    'beta-0': SLOTS.perEndpoint,
  });
});
