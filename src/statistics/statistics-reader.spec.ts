import { setImmediate } from 'node:timers';
import { bySteppingClock } from '../../test/support/stepping-clock';
import { statisticsJson } from './statistics-reader';

const STEPS = 1_440;
const SLICE_MS = 10;

describe('the text of an answer', () => {
  it('lets others have their turn after each slice', async () => {
    const steps = Array.from({ length: STEPS }, (_unused, minute) => ({
      at: new Date(minute * 60_000),
      text: '1 2 3 4 5 6;2 1 0 0 0 0',
    }));
    let turns = 0;
    let isOver = false;
    const next = (): void => {
      turns += 1;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    let text = '';
    await bySteppingClock(SLICE_MS, async () => {
      for await (const piece of statisticsJson({ names: ['shop'], steps }, true)) text += piece;
    });
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(STEPS / 2);
    expect(JSON.parse(text).items).toHaveLength(2 * STEPS);
  });
});
