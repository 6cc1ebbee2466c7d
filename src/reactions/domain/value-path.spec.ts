import fc from 'fast-check';
import { aStoredEvent as anEvent } from '../../../test/support/stored-event';
import { recordOf } from './event-record';
import { valueAt, valuePathFaults } from './value-path';

describe('valueFrom', () => {
  it.each([
    ...['eventId', 'family', 'source', 'externalEventId', 'eventType', 'eventTypeVersion', 'occurredAt', 'receivedAt'],
    ...['profileId', 'identity.email', 'properties.amount', 'properties.items.0.sku', 'properties.a.b.c.d.e.f.g.h'],
    ...['properties.odd key', 'properties.größe', 'event.properties.amount', 'event.source', 'event.identity.email'],
    'event.properties.a.b.c.d.e.f.g.h',
  ])('may be %s', (path) => {
    expect(valuePathFaults(path, 'p')).toEqual([]);
  });

  it.each<[unknown, string]>([
    [7, 'type'],
    [null, 'type'],
    [{}, 'type'],
    ['', 'format'],
    ['amount', 'format'],
    ['event', 'format'],
    ['event.properties', 'format'],
    ['event.event.source', 'format'],
    ['event.properties.a.b.c.d.e.f.g.h.i', 'format'],
    ['identity', 'format'],
    ['properties', 'format'],
    ['properties.', 'format'],
    ['properties..a', 'format'],
    ['.properties.a', 'format'],
    ['source.length', 'format'],
    ['eventId.0', 'format'],
    ['properties.__proto__', 'format'],
    ['properties.constructor.name', 'format'],
    ['properties.a.prototype', 'format'],
    ['__proto__.a', 'format'],
    ['processing.state', 'format'],
    ['properties.a.b.c.d.e.f.g.h.i', 'format'],
    ['properties.a\u0000', 'invalid_characters'],
    [`properties.${'a'.repeat(300)}`, 'too_long'],
  ])('%j is refused', (path, code) => {
    expect(valuePathFaults(path, 'ops[0].valueFrom').map((fault) => [fault.path, fault.code])).toEqual([
      ['ops[0].valueFrom', code],
    ]);
  });

  it('finds values of the record as it is shown, times as text', () => {
    const record = recordOf(anEvent({ properties: { amount: 29.33, items: [{ sku: 'A' }] } }));
    const found = ['source', 'receivedAt', 'properties.amount', 'properties.items.0.sku', 'properties.none'].map(
      (path) => valueAt(record, path),
    );
    expect(found).toEqual(['shop', '2026-01-02T03:04:06.000Z', 29.33, 'A', undefined]);
    expect(valueAt(record, 'event.properties.items.0.sku')).toBe('A');
  });

  it('that was taken never finds what objects inherit, and no text makes it throw', () => {
    const record = recordOf(anEvent());
    const step = fc.oneof(
      fc.constantFrom('properties', 'identity', '__proto__', 'constructor', 'toString', ''),
      fc.string(),
    );
    const path = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('.'));
    fc.assert(
      fc.property(path, (text) => {
        if (valuePathFaults(text, 'p').length === 0) expect(typeof valueAt(record, text)).not.toBe('function');
      }),
      { numRuns: 1_000 },
    );
  });
});
