import type { Schema } from '../../api/api-types';
import { parseJson } from '../../design/json-editor';

export type ReactionDefinition = Schema<'DefineReactionDto'>;

export const NEW_REACTION: ReactionDefinition = {
  name: 'count-purchases',
  eventType: 'purchase',
  when: { '>=': [{ var: 'event.properties.amount' }, 20] },
  ops: [{ path: 'state.user.points', op: 'inc', value: 10 }],
};

/** What a record was defined by, in the order in which one reads it. */
export function definitionOf({
  name,
  eventType,
  source,
  when,
  ops,
  enabled,
}: Schema<'ReactionDto'>): ReactionDefinition {
  return {
    name,
    eventType,
    ...(source === undefined ? {} : { source }),
    ...(when === undefined ? {} : { when }),
    ops,
    enabled,
  };
}

export function definitionText(definition: ReactionDefinition): string {
  return JSON.stringify(definition, null, 2);
}

/** Throws if the text is no JSON; the service checks the rest. */
export function parsedDefinition(text: string): ReactionDefinition {
  const parsed = parseJson(text);
  if ('fault' in parsed) throw new Error(`The definition is no JSON: ${parsed.fault}`);
  return parsed.value as ReactionDefinition;
}
