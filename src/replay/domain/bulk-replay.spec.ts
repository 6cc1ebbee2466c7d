import type { StoredEntry } from '../../review/domain/review-entry';
import { replayStep } from './bulk-replay';

const JOB = 'job-1';

function anEntry(fields: Partial<StoredEntry> = {}): StoredEntry {
  return {
    id: 'entry',
    severity: 'error',
    stage: 'validation',
    status: 'open',
    family: 'cdp',
    details: [],
    source: 'shop',
    eventId: 'event',
    externalEventId: '1',
    eventType: 'purchase',
    payload: '{}',
    payloadForm: 'json',
    payloadState: null,
    firstSeenAt: new Date(0),
    resolution: null,
    ...fields,
  };
}

describe('a step of a bulk replay', () => {
  it.each([
    ['is open', anEntry()],
    ['failed in another replay', anEntry({ resolution: { jobId: 'job-0', outcome: 'error' } })],
    ['failed in a single replay', anEntry({ resolution: { action: 'replayed', outcome: 'error' } })],
  ])('sends an entry that %s', (_what, entry) => {
    expect(replayStep(entry, JOB)).toEqual({ send: entry });
  });

  it.each([
    ['that it sent and that was accepted', { status: 'replayed', outcome: 'accepted' }, 'accepted'],
    ['that it sent and that was a duplicate', { status: 'replayed', outcome: 'duplicate' }, 'duplicate'],
    ['that it sent and that was refused', { status: 'open', outcome: 'error' }, 'failed'],
    ['that it sent and whose stored event has other content', { status: 'open', outcome: 'duplicate' }, 'duplicate'],
  ] as const)('counts an entry %s', (_what, { status, outcome }, counted) => {
    const entry = anEntry({ status, resolution: { jobId: JOB, outcome } });
    expect(replayStep(entry, JOB)).toEqual({ counted });
  });

  it.each([
    ['does not exist any more', undefined, 'failed'],
    ['was dismissed meanwhile', anEntry({ status: 'dismissed' }), 'failed'],
    ['was superseded meanwhile', anEntry({ status: 'superseded' }), 'duplicate'],
    ['was replayed meanwhile', anEntry({ status: 'replayed', resolution: { outcome: 'accepted' } }), 'duplicate'],
  ] as const)('sends no entry that %s', (_what, entry, counted) => {
    expect(replayStep(entry, JOB)).toEqual({ counted });
  });
});
