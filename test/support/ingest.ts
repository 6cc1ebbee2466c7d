import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import type { Identifier } from '../../src/identity/domain/identifier';
import type { CheckedEvent, IncomingEvent } from '../../src/ingest/domain/incoming-event';
import { AppModule } from '../../src/app.module';
import type { Principal } from '../../src/platform/auth/principal';
import { readSettings } from '../../src/platform/config/env';
import { JsonLogger } from '../../src/platform/observability/logger';
import { logFile } from './log-watch';

/** A node of the service without its HTTP side: lanes, connections and memory of its own. */
export async function startNode(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<INestApplicationContext> {
  const settings = readSettings({ ...environment, DATABASE_URL: databaseUrl });
  return NestFactory.createApplicationContext(AppModule.with(settings, { url: databaseUrl }), {
    logger: new JsonLogger('trace', logFile()),
    abortOnError: false,
  });
}

export function aCaller(tenantId: string): Principal {
  return { tenantId, credentialId: 'test', scopes: new Set(['admin']), sources: null, expiresAt: null };
}

export const external = (value: string): Identifier => ({ kind: 'EXTERNAL', value });
export const email = (value: string): Identifier => ({ kind: 'EMAIL', value });
export const device = (value: string): Identifier => ({ kind: 'DEVICE', value });

/** A checked event, each time a new one, of a new customer unless identifiers are given. */
export function aCheckedEvent(fields: Partial<IncomingEvent> = {}): CheckedEvent {
  const id = randomUUID();
  const event: IncomingEvent = {
    family: 'external',
    source: 'shop',
    externalEventId: id,
    eventType: 'purchase',
    eventTypeVersion: null,
    occurredAt: null,
    identifiers: [external(`customer-${id}`)],
    identity: { type: 'EXTERNAL', value: `customer-${id}` },
    properties: { amount: 1 },
    ...fields,
  };
  const sent = { value: event, bytes: 300, text: () => JSON.stringify(event) };
  return { family: event.family, sent, checked: { event } };
}
