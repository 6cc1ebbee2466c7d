import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import type { Identifier } from '../../src/identity/domain/identifier';
import { CDP_FIELDS } from '../../src/identity/domain/identity-reference';
import type { EventFields, ParsedEvent } from '../../src/ingest/domain/event';
import { EVENT_FAMILIES, type Submission } from '../../src/ingest/domain/submission';
import { EventParsers } from '../../src/ingest/parse/event-parsers';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { AppModule } from '../../src/app.module';
import type { Principal } from '../../src/platform/auth/principal';
import { readSettings } from '../../src/platform/config/env';
import { JsonLogger } from '../../src/platform/observability/logger';
import { withDatabaseKind } from '../../src/platform/postgres/distribution/database-kind';
import { WORKSPACES } from './database';
import { fieldsOfAnEvent } from './event-fields';
import { inTurn } from './in-turn';
import { logFile } from './log-watch';

const ATTEMPTS_MAX = 50;

/**
 * A node of the service without its HTTP side: commits, connections and memory of its own. It takes the submissions of
 * `aSubmission`.
 */
export async function startNode(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<INestApplicationContext> {
  const settings = readSettings({ ...WORKSPACES, ...environment, DATABASE_URL: databaseUrl });
  const connection = await withDatabaseKind({ url: databaseUrl }, settings);
  const logger = new JsonLogger('trace', logFile());
  const node = await inTurn(() =>
    NestFactory.createApplicationContext(AppModule.with(settings, connection), {
      logger,
      abortOnError: false,
    }),
  );
  for (const family of EVENT_FAMILIES) node.get(EventParsers).add(family, parseFields);
  return node;
}

export function aCaller(tenantId: string): Principal {
  return { tenantId, credentialId: 'test', scopes: new Set(['admin']), sources: null, expiresAt: null };
}

/**
 * What becomes of events in the end: `accepted`, or the code of what was wrong with them. Where everybody meets everybody
 * else's locks, a slow machine does not get each one done in time; those are sent again, as the answer says.
 */
export async function outcomesOf(
  service: IngestPipeline,
  caller: Principal,
  events: readonly Submission[],
): Promise<string[]> {
  const outcomes: string[] = [];
  let left = events;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const results = await service.ingest(caller, left, 'live');
    const again: Submission[] = [];
    results.forEach((result, place) => {
      const outcome = result.status === 'error' ? result.refusal.code : result.status;
      if (outcome === 'unavailable' && attempt < ATTEMPTS_MAX) again.push(left[place]!);
      // Then the first attempt was heard, and its answer was not.
      else outcomes.push(outcome === 'duplicate' && attempt > 1 ? 'accepted' : outcome);
    });
    left = again;
  }
  return outcomes;
}

export const external = (value: string): Identifier => ({ kind: 'EXTERNAL', value });
export const email = (value: string): Identifier => ({ kind: 'EMAIL', value });
export const device = (value: string): Identifier => ({ kind: 'DEVICE', value });

/** A submission that says this, each time a new event, of a new customer unless identifiers are given. See `startNode`. */
export function aSubmission(fields: Partial<EventFields> = {}): Submission {
  const id = randomUUID();
  const value = fieldsOfAnEvent({
    externalEventId: id,
    identifiers: [external(`customer-${id}`)],
    identity: { type: 'EXTERNAL', value: `customer-${id}` },
    ...fields,
  });
  return { family: value.family, value, bytes: 300, text: () => JSON.stringify(value) };
}

/** One of the CDP family that names these, and says the last of them in its properties, too. */
export function naming(...identifiers: Identifier[]): Submission {
  const fields = new Map(CDP_FIELDS.map(([field, kind]) => [kind, field]));
  const identity = Object.fromEntries(identifiers.map(({ kind, value }) => [fields.get(kind), value]));
  return aSubmission({ family: 'cdp', identifiers, identity, properties: { says: identifiers.at(-1)?.value } });
}

/** Takes the fields of a submission as they are, so that tests can name any identifiers; refuses what has none. */
function parseFields(_tenantId: string, { value }: Submission): ParsedEvent {
  const fields = value as EventFields;
  if (Array.isArray(fields.identifiers)) return { fields };
  return { refusal: { code: 'validation_failed', message: 'wrong', details: [] } };
}

/** The fields of an event of a customer. */
export function named(id: string, customer: string, properties: Record<string, unknown> = {}): Partial<EventFields> {
  return { externalEventId: id, identifiers: [external(customer)], properties };
}

/** Sends events to a node in one request. All of them have to be accepted. */
export async function sendTo(
  node: INestApplicationContext,
  tenantId: string,
  fields: readonly Partial<EventFields>[],
): Promise<void> {
  const events = fields.map((each) => aSubmission(each));
  const results = await node.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');
  expect(results.map(({ status }) => status)).toEqual(fields.map(() => 'accepted'));
}
