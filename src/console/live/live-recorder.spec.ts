import { TestClock } from '../../../test/support/test-clock';
import { until } from '../../../test/support/until';
import { AnsweredEvents } from '../../ingest/answered-events';
import type { InvalidationFeed } from '../../platform/invalidation/invalidation-feed';
import type { ReviewService } from '../../review/review.service';
import type { LiveChannel } from './live-channel';
import { LiveRecorder } from './live-recorder';

describe('the live recorder', () => {
  it('watches a workspace for 30 s after each announcement of a viewer, and no other', async () => {
    const clock = new TestClock();
    const answers = new AnsweredEvents();
    let announce: (tenantId: string) => void = () => undefined;
    const feed = { onChange: (_kind: string, listener: typeof announce) => (announce = listener) };
    const sent: string[] = [];
    const channel = { send: (messages: readonly string[]) => Promise.resolve(void sent.push(...messages)) };
    const recorder = new LiveRecorder(
      answers,
      {} as ReviewService,
      channel as unknown as LiveChannel,
      clock,
      feed as unknown as InvalidationFeed,
    );
    expect(answers.watcherOf('a')).toBeUndefined();
    announce('a');
    expect([answers.watcherOf('a') === undefined, answers.watcherOf('b')]).toEqual([false, undefined]);
    const value = { source: 'shop', type: 'purchase', external_event_id: '1' };
    const result = { status: 'accepted', eventId: 'e', warnings: [], storedHash: '' } as const;
    answers.watcherOf('a')?.({ family: 'external', value, result });
    await until(() => sent.length > 0);
    clock.pass(29_000);
    announce('a');
    announce('b');
    clock.pass(29_000);
    announce('b');
    clock.pass(2_000);
    await until(() => answers.watcherOf('a') === undefined);
    expect(answers.watcherOf('b')).toBeDefined();
    recorder.beforeApplicationShutdown();
    announce('a');
    expect([answers.watcherOf('a'), answers.watcherOf('b')]).toEqual([undefined, undefined]);
  });
});
