import { DeliverySlots, SLOTS, type Destination } from './delivery-slots';

const at = (endpointId: string, fields: Partial<Destination> = {}): Destination => ({
  tenantId: 'tenant',
  endpointId,
  host: `${endpointId}.example.com`,
  isFailing: false,
  ...fields,
});

/** Takes all that each of these endpoints may have, one after the other, as if none of them ever answered. */
function take(slots: DeliverySlots, destinations: readonly Destination[]): number[] {
  return destinations.map((destination) => {
    const free = slots.free(destination);
    for (let taken = 0; taken < free; taken += 1) {
      if (slots.free(destination) > 0) slots.take(destination);
    }
    return free;
  });
}

const several = (count: number, make: (n: number) => Destination): Destination[] =>
  Array.from({ length: count }, (_unused, n) => make(n));

it.each([
  ['workspace', 28, (n: number) => at(`e${n}`)],
  ['host', 9, (n: number) => at(`e${n}`, { tenantId: `t${n}`, host: 'hooks.example.com' })],
  ['process', 60, (n: number) => at(`e${n}`, { tenantId: `t${n % 20}` })],
])('leaves slots of a %s to an endpoint without calls, though %i others never answer', (_name, count, make) => {
  const slots = new DeliverySlots();
  const silent = several(count, make);
  take(slots, silent);
  expect(slots.free(make(count))).toBeGreaterThan(0);
  // Those have one each at least, and take none of it, whatever becomes free.
  expect(silent.map((each) => slots.free(each))).toEqual(silent.map(() => 0));
});

it('gives the whole share to one that is alone, and takes it back', () => {
  const slots = new DeliverySlots();
  expect(take(slots, [at('one')])).toEqual([SLOTS.perEndpoint]);
  expect(slots.free(at('one'))).toBe(0);
  slots.giveBack(at('one'), SLOTS.perEndpoint);
  expect([slots.inUse, slots.free(at('one'))]).toEqual([0, SLOTS.perEndpoint]);
});

it('gives failing endpoints two slots each, a quarter of a host, and a quarter of all', () => {
  const failing = (n: number, fields: Partial<Destination> = {}) =>
    at(`e${n}`, { tenantId: `t${n}`, isFailing: true, ...fields });
  const atOneHost = new DeliverySlots();
  take(
    atOneHost,
    several(40, (n) => failing(n, { host: 'hooks.example.com' })),
  );
  expect(atOneHost.inUse).toBe(SLOTS.failingPerHost);
  expect(atOneHost.free(at('works', { host: 'hooks.example.com' }))).toBe(SLOTS.perEndpoint);
  const inAll = new DeliverySlots();
  expect(take(inAll, [failing(0)])).toEqual([SLOTS.perFailingEndpoint]);
  take(
    inAll,
    several(200, (n) => failing(n)),
  );
  expect(inAll.inUse).toBe(SLOTS.failingInAll);
  expect(inAll.free(at('works'))).toBe(SLOTS.perEndpoint);
});
