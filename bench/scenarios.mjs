import { backlog } from './scenarios/backlog.mjs';
import { batches } from './scenarios/batches.mjs';
import { duplicates } from './scenarios/duplicates.mjs';
import { hotCounter } from './scenarios/hot-counter.mjs';
import { idleLatency } from './scenarios/idle-latency.mjs';
import { parseServer } from './scenarios/parse-server.mjs';
import { processes } from './scenarios/processes.mjs';
import { reactions } from './scenarios/reactions.mjs';
import { singleEvents } from './scenarios/single-events.mjs';
import { stateReads } from './scenarios/state-reads.mjs';
import { storedEvents } from './scenarios/stored-events.mjs';
import { timeline } from './scenarios/timeline.mjs';
import { webhooks } from './scenarios/webhooks.mjs';

/** Every scenario in the order in which it runs; each gives rows of the table that `report.mjs` prints. */
export const SCENARIOS = [
  idleLatency,
  singleEvents,
  batches,
  duplicates,
  hotCounter,
  stateReads,
  timeline,
  reactions,
  webhooks,
  backlog,
  storedEvents,
  processes,
  parseServer,
];
