import { parseExactly } from '../../platform/values/json/parse-exactly';
import type { StoredEntry } from '../../review/domain/review-entry';
import { replayable } from './replayable';
import type { Correction } from './restore-masked';

const EVENT = { source: 'shop', external_event_id: '1', type: 'purchase' };

function anEntry(fields: Partial<StoredEntry> = {}): StoredEntry {
  return {
    id: 'entry',
    severity: 'error',
    stage: 'validation',
    status: 'open',
    family: 'external',
    details: [],
    source: 'shop',
    externalEventId: '1',
    eventType: 'purchase',
    eventId: 'event',
    payload: JSON.stringify(EVENT),
    payloadForm: 'json',
    payloadState: null,
    firstSeenAt: new Date(0),
    resolution: null,
    ...fields,
  };
}

const unmasked = (value: object): Correction => ({ value, stored: undefined, shown: undefined });
const fault = (path: string, code: 'empty' | 'too_long' | 'source_not_allowed') => ({ path, code, message: 'm' });

function faultsOf(entry: StoredEntry, value?: object): readonly string[] | undefined {
  const found = replayable(entry, value && unmasked(value));
  return 'faults' in found ? found.faults.map(({ path, code }) => `${path} ${code}`) : undefined;
}

describe('what a replay sends', () => {
  it('is the stored payload, byte for byte', () => {
    const payload = '{"source": "shop", "n": 1e999, "a":12345678901234567890}';
    const found = replayable(anEntry({ payload }), undefined);
    if (!('submission' in found)) throw new Error('Nothing to replay');
    expect([found.submission.text(), found.submission.value]).toEqual([payload, parseExactly(payload)]);
  });

  it('is the corrected payload, if there is one, also if the old one was removed or was no event', () => {
    for (const entry of [
      anEntry(),
      anEntry({ payload: null }),
      anEntry({ payload: '{"sou', payloadForm: 'text', source: null, externalEventId: null }),
    ]) {
      expect(replayable(entry, unmasked(EVENT))).toMatchObject({ submission: { value: EVENT } });
    }
  });

  it.each([
    ['a warning', { severity: 'warning' }, ' not_replayable'],
    ['what is about no event', { stage: 'processing', eventId: null }, ' not_replayable'],
    ['a payload that is no longer kept', { payload: null }, 'payload not_replayable'],
    ['a payload without its erased person', { payloadState: 'removed' }, 'payload not_replayable'],
    [
      'a payload of which only the beginning is kept',
      { payload: '{', payloadForm: 'text', payloadState: 'cut' },
      'payload not_replayable',
    ],
    ['problems that were only counted', { payload: null, payloadState: 'not_kept' }, 'payload not_replayable'],
    ['a body that is no JSON', { payload: '{', payloadForm: 'text' }, 'payload not_replayable'],
    ['a batch', { payload: '{"items":[{}]}' }, 'payload not_replayable'],
  ] as const)('is nothing for %s', (_what, fields, expected) => {
    expect(faultsOf(anEntry(fields))).toEqual([expected]);
  });

  it('is nothing for an event whose processing failed: it is stored, and processed again', () => {
    const entry = anEntry({ stage: 'processing', payload: null });
    expect(replayable(entry, undefined)).toEqual({ storedEventId: 'event' });
    expect(faultsOf(entry, EVENT)).toEqual(['payload not_replayable']);
  });

  it('is no corrected payload for a warning', () => {
    expect(faultsOf(anEntry({ severity: 'warning' }), EVENT)).toEqual([' not_replayable']);
  });

  it('is no corrected payload of another event; a fault names each field that differs', () => {
    expect(faultsOf(anEntry(), { source: 'other', external_event_id: 1 })).toEqual([
      'payload.source other_event',
      'payload.external_event_id other_event',
    ]);
    expect(faultsOf(anEntry({ family: 'cdp' }), EVENT)).toEqual(['payload.externalEventId other_event']);
    expect(faultsOf(anEntry(), {})).toHaveLength(2);
  });

  it('may have another id or source if the old one had a fault or was unknown', () => {
    const other = { ...EVENT, external_event_id: '2' };
    expect(faultsOf(anEntry({ details: [fault('external_event_id', 'too_long')] }), other)).toBeUndefined();
    expect(faultsOf(anEntry({ externalEventId: null }), other)).toBeUndefined();
    expect(faultsOf(anEntry({ details: [fault('source', 'empty')] }), other)).toEqual([
      'payload.external_event_id other_event',
    ]);
  });

  it('must keep a source that the credential was not allowed to send', () => {
    const entry = anEntry({ details: [fault('source', 'source_not_allowed')] });
    expect(faultsOf(entry, { ...EVENT, source: 'allowed' })).toEqual(['payload.source other_event']);
  });
});
