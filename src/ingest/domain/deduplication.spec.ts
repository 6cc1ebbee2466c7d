import type { EventFields } from './event';
import { contentHashOf } from './deduplication';
import { fieldsOfAnEvent } from '../../../test/support/event-fields';

const EVENT = fieldsOfAnEvent({
  family: 'cdp',
  externalEventId: '1',
  eventTypeVersion: 1,
  occurredAt: 1_767_323_045_000,
  identifiers: [{ kind: 'EMAIL', value: 'a@b.de' }],
  identity: { email: 'A@b.de' },
  properties: { amount: 1, nested: { x: [1, { y: 'z' }] } },
});

describe('contentHashOf', () => {
  it('is the same however the JSON is ordered and the identity is written', () => {
    const same = {
      ...EVENT,
      identity: { email: ' a@B.de' },
      properties: { nested: { x: [1, { y: 'z' }] }, amount: 1 },
    };
    expect(contentHashOf(same)).toBe(contentHashOf(EVENT));
    expect(contentHashOf({ ...EVENT, family: 'external', eventTypeVersion: null })).toBe(contentHashOf(EVENT));
  });

  it.each<[string, Partial<EventFields>]>([
    ['the type', { eventType: 'refund' }],
    ['the time', { occurredAt: null }],
    ['an identifier', { identifiers: [{ kind: 'EMAIL', value: 'b@b.de' }] }],
    ['the kind of an identifier', { identifiers: [{ kind: 'DEVICE', value: 'a@b.de' }] }],
    ['a property', { properties: { ...EVENT.properties, amount: 1.01 } }],
    ['the order of a list', { properties: { amount: 1, nested: { x: [{ y: 'z' }, 1] } } }],
    ['a number that is text elsewhere', { properties: { ...EVENT.properties, amount: '1' } }],
  ])('tells apart two events that differ in %s', (_name, change) => {
    expect(contentHashOf({ ...EVENT, ...change })).not.toBe(contentHashOf(EVENT));
  });

  it('is 18 bytes of base64, as the log gives it back', () => {
    const hash = contentHashOf(EVENT);
    expect(Buffer.from(hash, 'base64').toString('base64')).toBe(hash);
    expect(Buffer.from(hash, 'base64')).toHaveLength(18);
  });
});
