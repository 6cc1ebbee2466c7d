/**
 * A worker of the built service in a process of its own, whose effect is a row in its transaction. Ends with its parent's pipe. With
 * an event of the external id in STUCK_ON it says so and stands still, as in a calculation without an end.
 */
require('reflect-metadata');
const { writeSync } = require('node:fs');
const process = require('node:process');
const { setTimeout: wait } = require('node:timers/promises');
const { NestFactory } = require('@nestjs/core');
const { AppModule } = require('../../dist/src/app.module.js');
const { withDatabaseKind } = require('../../dist/src/platform/postgres/distribution/database-kind.js');
const { readSettings } = require('../../dist/src/platform/config/env.js');
const { EventEffects } = require('../../dist/src/processing/effects.js');
const { EventWorker } = require('../../dist/src/processing/event-worker.js');
const { Jobs } = require('../../dist/src/platform/jobs/jobs.js');

const RECORD = {
  name: 'test_record_effects',
  text: `INSERT INTO test_effects (tenant_id, event_id)
    SELECT u.tenant_id, u.event_id FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS u (tenant_id, event_id, n)
    ORDER BY u.n`,
};

const EVERYTHING = {
  name: 'test_everything',
  text: `SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)`,
};

async function record(transaction, events, stuckOn) {
  // Long enough to be killed in the middle.
  if (stuckOn === undefined) await wait(60);
  await transaction.send(RECORD, [events.map((each) => each.tenantId), events.map(({ event }) => event.eventId)]);
  return events.map(() => ({ reactions: [] }));
}

async function main() {
  const settings = readSettings(process.env);
  const connection = await withDatabaseKind({ url: settings.databaseUrl }, settings);
  const app = await NestFactory.createApplicationContext(AppModule.with(settings, connection), { logger: false });
  app.get(EventEffects).register({
    concerned: EVERYTHING,
    async plan(transaction, events) {
      const stuckOn = process.env.STUCK_ON;
      if (events.some(({ event }) => event.externalEventId === stuckOn)) {
        writeSync(process.stdout.fd, 'stuck\n');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      }
      return { count: events.length, apply: (count) => record(transaction, events.slice(0, count), stuckOn) };
    },
  });
  app.get(EventWorker).start();
  app.get(Jobs).start();
  process.stdout.write('working\n');
}

process.stdin.on('end', () => process.exit()).resume();
void main();
