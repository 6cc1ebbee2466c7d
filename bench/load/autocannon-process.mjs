// autocannon in a process of its own, so that its CPU is measured apart from the service's.
//
// Its parent sends one job at a time, { url, connections, warmUpSeconds, seconds, request, expect }, and gets
// { measuring } when the warm-up is over and { result } at the end.
import autocannon from 'autocannon';
import { percentilesOf } from '../measure/percentiles.mjs';
import { requestsOf, templateOf } from './requests.mjs';

process.on('message', (job) => {
  run(job).then(
    (result) => process.send({ result }),
    (error) => process.send({ failed: error.message }),
  );
});
process.once('disconnect', () => process.exit());

/** Runs one job. Answers durations of the answers that were expected, and how many others there were, by status. */
function run({ url, connections, warmUpSeconds, seconds, request, expect }) {
  const next = requestsOf(templateOf(request, url));
  const expected = new Set(expect);
  const durationsMs = [];
  const unexpected = new Map();
  const note = (what) => unexpected.set(what, (unexpected.get(what) ?? 0) + 1);
  let beganAt;
  const setupClient = (client) => {
    // Each request is made here, whole: autocannon's own way of changing a body costs as much as the service does.
    client.getRequestBuffer = next;
    client.on('response', (status, _bytes, durationMs) => {
      if (!expected.has(status)) note(status);
      else if (beganAt !== undefined) durationsMs.push(durationMs);
    });
    client.on('connError', ({ code }) => note(code)).on('timeout', () => note('timeout'));
  };
  return new Promise((resolve) => {
    const load = autocannon({ url, connections, duration: warmUpSeconds + seconds + 60, timeout: 30, setupClient });
    const begin = () => {
      beganAt = performance.now();
      process.send({ measuring: true });
    };
    const end = () => {
      const measuredSeconds = (performance.now() - beganAt) / 1_000;
      const answers = durationsMs.length;
      resolve({ answers, seconds: measuredSeconds, ...percentilesOf(durationsMs), unexpected: [...unexpected] });
      load.stop();
    };
    setTimeout(begin, warmUpSeconds * 1_000);
    setTimeout(end, (warmUpSeconds + seconds) * 1_000);
  });
}
