import { Logger } from '@nestjs/common';
import { Clock } from '../values/clock';
import { ClockDifference } from './clock-difference';
import { Metrics } from './metrics';

const READING = { databaseMs: 0, askedMs: 0, answeredMs: 0 };

afterEach(() => jest.restoreAllMocks());

describe('a machine whose clock is not that of the database', () => {
  it('is told of once when that begins and once when it ends, with what to do', () => {
    const lines: unknown[] = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line) => lines.push(line));
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line) => lines.push(line));
    const clock = new Clock();
    const difference = new ClockDifference(clock, new Metrics());
    jest.spyOn(clock, 'learn').mockImplementation(() => undefined);
    const aheadMs = jest.spyOn(clock, 'machineAheadMs');
    const tooLarge: boolean[] = [];
    for (const seconds of [0, 59, -61, -301, -70, 3, 301, -20]) {
      aheadMs.mockReturnValue(seconds * 1_000);
      difference.learn(READING);
      tooLarge.push(difference.isTooLarge());
    }
    expect(lines).toEqual([
      expect.stringMatching(/^The clock of this machine is off. It is 61 seconds behind the database's.*NTP/),
      "The clock of this machine agrees with the database's again.",
      expect.stringMatching(/^The clock of this machine is off. It is 301 seconds ahead of the database's/),
      "The clock of this machine agrees with the database's again.",
    ]);
    expect(tooLarge).toEqual([false, false, false, true, false, false, true, false]);
  });

  it('is unknown, and no hindrance, before the first look at the database', async () => {
    const metrics = new Metrics();
    const clock = new Clock();
    jest.spyOn(clock, 'machineAheadMs').mockReturnValue(undefined);
    expect(new ClockDifference(clock, metrics).isTooLarge()).toBe(false);
    expect(await metrics.registry.metrics()).not.toMatch(/^cds_clock_difference_seconds /m);
  });
});
