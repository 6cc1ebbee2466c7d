import { setTimeout as wait } from 'node:timers/promises';
import type { FailedAttempt } from '../../../clients/typescript/src/client';
import type { Console } from '../console';
import type { ExportedEvent } from '../events/export/event-output';
import { AT_THE_BEGINNING, eventPages, readCompleteBefore } from '../events/export/event-pages';
import { readable } from '../foreign-data';
import { attemptFailure, isForeignAnswer, RunningService } from '../running-service';
import type { ServiceOptions } from '../service-options';
import type { Stopping } from '../stopping';
import { ChangeFollower, type FollowedHistory } from './followed-changes';
import { eventBodyOf, type Forwarder } from './forward-event';

export interface ListenOptions extends ServiceOptions {
  /** None: all of them. */
  readonly types: readonly string[];
  /** Whose changes of values are forwarded, too. */
  readonly histories: readonly FollowedHistory[];
  readonly unmask: boolean;
}

export interface ListenSurroundings {
  readonly console: Pick<Console, 'out' | 'say'>;
  readonly forwarder: Forwarder;
  readonly stopping: Stopping;
  /** Bodies go to standard output, and what became of calls to standard error. */
  readonly printsBodies: boolean;
}

const ADVICE = {
  credential:
    'The key (CDS_API_KEY or --key-file) needs the scope events:read, for --unmask also pii:read, for --changes state:read.',
  unreachable: 'Start the command again when it is back.',
};
const POLL_MS = 500;
const PAGE_ITEMS_MAX = 200;

interface Call {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly body: string;
}

/** Forwards events that are received from now on, and changes, until it is stopped. Throws `ClientFailure`. */
export async function listen(options: ListenOptions, surroundings: ListenSurroundings): Promise<void> {
  const { console, forwarder, stopping } = surroundings;
  const service = followedService(options, console);
  const tell = surroundings.printsBodies ? console.say : console.out;
  const counts = { taken: 0, failed: 0 };
  const forward = async ({ id, at, type, body }: Call): Promise<void> => {
    stopping.soon.throwIfAborted();
    const { isTaken, answer, durationMs } = await forwarder.forward(id, body, stopping.now);
    counts[isTaken ? 'taken' : 'failed'] += 1;
    if (surroundings.printsBodies) console.out(body);
    tell(`${at}  ${readable(type)}  ${id}  ${answer}  ${durationMs} ms`);
  };
  try {
    let from = await readCompleteBefore(service, stopping.soon);
    const followers = options.histories.map((followed) => new ChangeFollower(followed, from));
    console.say(`Events received from now on go to ${forwarder.url}. Ctrl-C ends this.`);
    console.say(`Secret: ${forwarder.secret}`);
    for (;;) {
      await wait(POLL_MS, undefined, { signal: stopping.soon });
      for (const follower of followers) {
        for (const change of await follower.next(service, options.unmask, stopping.soon)) await forward(change);
      }
      const to = await readCompleteBefore(service, stopping.soon);
      if (to <= from) continue;
      for await (const event of eventsOf(service, options, { from, to }, stopping.soon)) await forward(callOf(event));
      from = to;
    }
  } catch (error) {
    if (!stopping.soon.aborted) throw error;
    console.say(`Ended. ${counts.taken} calls were taken with a status of 2xx, ${counts.failed} were not.`);
  }
}

/** The events of a range in the order of receipt, a page at a time. */
async function* eventsOf(
  service: RunningService,
  { types, unmask }: ListenOptions,
  range: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): AsyncGenerator<ExportedEvent, void> {
  const [eventType, ...others] = types;
  const pages = eventPages(service, {
    range,
    unmask,
    from: AT_THE_BEGINNING,
    room: () => PAGE_ITEMS_MAX,
    mayWait: () => true,
    signal,
    // The service filters by one type; more are looked for here, so that their order is kept.
    ...(others.length > 0 ? {} : { eventType }),
  });
  for await (const { events } of pages) {
    for (const event of events) if (types.length === 0 || types.includes(event.eventType)) yield event;
  }
}

/** A client that waits as long as the service is away, and says so once. */
function followedService({ url, key }: ListenOptions, { say }: Pick<Console, 'say'>): RunningService {
  return new RunningService(url, key, ADVICE, {
    totalMsMax: Number.POSITIVE_INFINITY,
    pauseMsMax: 2_000,
    shouldRetry: ({ error, attempts }: FailedAttempt) => {
      if (isForeignAnswer(error)) return false;
      if (attempts === 1) say(`The service at ${url}: ${attemptFailure(error)}. Trying again.`);
      return true;
    },
  });
}

function callOf(event: ExportedEvent): Call {
  return { id: event.eventId, at: event.receivedAt, type: event.eventType, body: eventBodyOf(event) };
}
