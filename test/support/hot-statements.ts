import * as identity from '../../src/identity/profile.sql';
import * as separations from '../../src/identity/separations.sql';
import * as expiry from '../../src/ingest/expiry/event-expiry.sql';
import * as queue from '../../src/ingest/queue/event-queue.sql';
import * as ingest from '../../src/ingest/store/event.sql';
import { failIfAny } from '../../src/platform/postgres/precondition';
import type { Statement } from '../../src/platform/postgres/statement';
import * as windows from '../../src/processing/event-window.sql';
import * as processing from '../../src/processing/processing.sql';
import * as waiting from '../../src/processing/waiting-events.sql';
import * as backfill from '../../src/reactions/backfill/backfill.sql';
import * as reactions from '../../src/reactions/reaction.sql';
import * as recording from '../../src/review/recording.sql';
import * as review from '../../src/review/review.sql';
import * as history from '../../src/runtime/history.sql';
import * as runtime from '../../src/runtime/state.sql';
import { COUNT_REPLAYED } from '../../src/statistics/statistics.sql';
import * as changes from '../../src/webhooks/change.sql';
import * as deliveries from '../../src/webhooks/delivery/delivery.sql';
import * as replays from '../../src/webhooks/replay/webhook-replay.sql';
import * as webhooks from '../../src/webhooks/webhook.sql';

/** It reads the sessions of the server, which are few. */
const { IS_SETTLED: _sessions, IS_SETTLED_ON_NODES: _sessionsOfNodes, ...ofWindows } = windows;

/** Every statement of the hot path. */
export const HOT_STATEMENTS: readonly Statement[] = [
  ...[ingest, expiry, queue, identity, separations, processing, waiting, ofWindows, reactions, backfill].flatMap(
    statementsIn,
  ),
  ...[recording, review, runtime, history, webhooks, deliveries, changes, replays].flatMap(statementsIn),
  COUNT_REPLAYED,
  ...[review.FIND_SUPERSEDED, reactions.FIND_KINDS, webhooks.FIND_SUBSCRIBED].map(failIfAny),
];

/** The files of statements also export the functions that fill in their parameters. */
function statementsIn(file: object): Statement[] {
  return Object.values(file).filter((each): each is Statement => typeof each === 'object' && 'text' in each);
}
