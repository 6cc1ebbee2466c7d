import { eventCounts, growthOf } from './event-counts';

const TEXT = [
  '# TYPE cds_events_received_total counter',
  'cds_events_received_total{family="external"} 3',
  'cds_events_received_total{family="cdp"} 20',
  '# TYPE cds_events_total counter',
  'cds_events_total{family="external",outcome="accepted"} 2',
  'cds_events_total{family="external",outcome="rejected"} 1',
  'cds_events_total{family="cdp",outcome="accepted"} 12',
  'cds_events_total{family="cdp",outcome="duplicate"} 8',
  'cds_events_rejected_total{family="external",code="validation_failed"} 1',
].join('\n');

describe('eventCounts', () => {
  it('adds up the families, and nothing else', () => {
    expect(eventCounts(TEXT)).toEqual({ received: 23, accepted: 14, duplicate: 8, rejected: 1 });
  });

  it('knows what is not the metrics of the service', () => {
    expect(eventCounts('<html>')).toBeUndefined();
  });
});

describe('growthOf', () => {
  const before = { received: 10, accepted: 5, duplicate: 4, rejected: 1 };
  const after = { received: 30, accepted: 15, duplicate: 14, rejected: 1 };

  it('is what has been added', () => {
    expect(growthOf(before, after, 20)).toEqual({ received: 20, accepted: 10, duplicate: 10, rejected: 0 });
  });

  it('is unknown when one of the readings failed, or another process has counted what was sent', () => {
    expect(growthOf(undefined, after, 20)).toBeUndefined();
    expect(growthOf(before, undefined, 20)).toBeUndefined();
    expect(growthOf(before, after, 21)).toBeUndefined();
    expect(growthOf(after, before, 20)).toBeUndefined();
  });
});
