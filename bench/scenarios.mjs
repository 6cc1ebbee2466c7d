import { backlog } from './scenarios/backlog.mjs';
import { batches } from './scenarios/batches.mjs';
import { citus } from './scenarios/citus.mjs';
import { duplicates } from './scenarios/duplicates.mjs';
import { hotCounter } from './scenarios/hot-counter.mjs';
import { idleLatency } from './scenarios/idle-latency.mjs';
import { live } from './scenarios/live.mjs';
import { memory } from './scenarios/memory.mjs';
import { parseServer } from './scenarios/parse-server.mjs';
import { processes } from './scenarios/processes.mjs';
import { reactions } from './scenarios/reactions.mjs';
import { singleEvents } from './scenarios/single-events.mjs';
import { start } from './scenarios/start.mjs';
import { stateReads } from './scenarios/state-reads.mjs';
import { storedEvents } from './scenarios/stored-events.mjs';
import { timeline } from './scenarios/timeline.mjs';
import { webhooks } from './scenarios/webhooks.mjs';

/**
 * Every scenario in the order in which it runs; each gives rows of the table that `report.mjs` prints. Those on request
 * run if `--only` names them.
 */
export const SCENARIOS = [
  start,
  idleLatency,
  singleEvents,
  batches,
  duplicates,
  hotCounter,
  stateReads,
  timeline,
  reactions,
  webhooks,
  live,
  backlog,
  storedEvents,
  processes,
  parseServer,
  memory,
  citus,
];
