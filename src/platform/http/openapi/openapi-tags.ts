import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './open-api-schema';

type Tag = NonNullable<OpenAPIObject['tags']>[number];

/** What the groups of operations are about, in the order in which the documentation shows them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Ingest: 'Sending events, each of which takes effect once, however often it is sent.',
  Events: 'Looking at events that were taken.',
  Processing: 'How far the events that were taken have got.',
  Review: 'What was refused or is odd, and what becomes of it.',
  'Event types': 'What events of the CDP family must look like.',
  Profiles: 'The customers that events belong to, and what they may ask for.',
  Variables: 'What campaigns may store.',
  Reactions: 'What campaigns do when something happens.',
  Runtime: 'Reading and changing what is stored, by participants and for them.',
  'API keys': 'Credentials of backends.',
  'JWT issuers': 'Whose tokens participants may call with.',
  'Service credentials': 'Keys that requests of backends are signed with.',
  Operation: 'Whether the service is up, and how it does.',
};

/** The tags that operations have, each with its description where one is written above. */
export function tagsOf(document: OpenAPIObject): Tag[] {
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  const order = Object.keys(DESCRIPTIONS);
  const names = [...order.filter((name) => used.has(name)), ...[...used].filter((name) => !order.includes(name))];
  return names.map((name) => {
    const description = DESCRIPTIONS[name];
    return description === undefined ? { name } : { name, description };
  });
}
