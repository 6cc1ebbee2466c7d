import { cpuMsSince } from '../../../../test/support/cpu-time';
import type { Fault } from '../../../platform/errors/fault';
import { newestOf, SampleTally } from './event-type-sample';

const fault = (code: Fault['code'], path: string): Fault => ({ code, path, message: `${path} is at fault` });

function resultOf(...events: readonly (readonly Fault[])[]): unknown {
  const tally = new SampleTally();
  for (const faults of events) tally.add(faults);
  return tally.result();
}

describe('a sample', () => {
  it('without events counts nothing', () => {
    expect(resultOf()).toEqual({ checked: 0, pass: 0, fail: 0, reasons: [] });
  });

  it('counts each event once, and each reason once for each event, most frequent first', () => {
    const [a, b] = [fault('type', 'properties.a'), fault('required', 'properties.b')];
    expect(resultOf([], [b], [a, b, b], [])).toEqual({
      checked: 4,
      pass: 2,
      fail: 2,
      reasons: [
        { code: 'required', path: 'properties.b', count: 2 },
        { code: 'type', path: 'properties.a', count: 1 },
      ],
    });
  });

  it('counts an event with a cut list of faults as failed, without a reason for the cut', () => {
    expect(resultOf([fault('too_many_faults', '')])).toEqual({ checked: 1, pass: 0, fail: 1, reasons: [] });
  });

  it('masks names that are email addresses', () => {
    expect(JSON.stringify(resultOf([fault('range', 'properties.a["jane@example.com"]')]))).not.toContain('jane@');
  });

  it('lists at most 100 reasons', () => {
    const faults = Array.from({ length: 150 }, (_, n) => fault('unknown_property', `properties.p${n}`));
    expect((resultOf(faults) as { reasons: unknown[] }).reasons).toHaveLength(100);
  });

  it('lists the most frequent of as many reasons as a sample may have, without blocking the node', () => {
    const tally = new SampleTally();
    for (let event = 0; event < 1_000; event += 1) {
      const own = Array.from({ length: 99 }, (_, n) =>
        fault('unknown_property', `properties.p${(event * 7_919 + n * 104_729) % 1_000_003}_${event}`),
      );
      tally.add([...own, fault('type', `properties.shared${event % 5}`)]);
    }
    const started = process.cpuUsage();
    const { reasons } = tally.result();
    // Measured: 250 ms and more when all of them are sorted.
    expect(cpuMsSince(started)).toBeLessThan(150);
    expect(reasons).toHaveLength(100);
    expect(reasons.slice(0, 5)).toEqual(
      [0, 1, 2, 3, 4].map((n) => ({ code: 'type', path: `properties.shared${n}`, count: 200 })),
    );
    expect(new Set(reasons.slice(5).map(({ count }) => count))).toEqual(new Set([1]));
  });

  it('consists of the newest events of both lists together', () => {
    const at = (...times: number[]) => times.map((time) => ({ at: time }));
    expect(newestOf(at(9, 7, 5), at(8, 6, 1), 4)).toEqual(at(9, 8, 7, 6));
    expect(newestOf([], at(2, 1), 4)).toEqual(at(2, 1));
  });
});
