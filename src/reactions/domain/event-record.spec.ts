import { aStoredEvent } from '../../../test/support/stored-event';
import { RECORD_FIELDS, recordOf } from './event-record';

describe('the record of an event', () => {
  it('has the fields of section 3 and no other, times as text', () => {
    const record = recordOf({ ...aStoredEvent(), contentHash: 'x' } as never);
    expect(Object.keys(record).sort()).toEqual([...RECORD_FIELDS].sort());
    expect(record).toMatchObject({ occurredAt: '2026-01-02T03:04:05.000Z', receivedAt: '2026-01-02T03:04:06.000Z' });
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });
});
