import type { Schema } from '../../api/api-types';
import { jsonOf } from '../../design/json-editor';

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

/** Throws if the text cannot be sent; the service checks the rest. */
export function parsedDefinition(text: string): ReactionDefinition {
  return jsonOf(text, 'The definition') as ReactionDefinition;
}
