import type { Principal } from '../../../platform/auth/principal';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { parseReactionDefinition } from '../../../reactions/domain/reaction-definition';
import type { Reaction } from '../../../reactions/entities/reaction.entity';
import type { ReactionsService } from '../../../reactions/reactions.service';
import { campaignFaults } from '../campaign-field';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ConfigurationEntry,
  type ConfigurationKind,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';
import { declarationsOf } from './variables-kind';

const DEFAULTS = { enabled: true };

/** Reactions of all campaigns. Archiving disables them. */
export function reactionsKind(caller: Principal, budget: ByteBudget, service: ReactionsService): ConfigurationKind {
  const { tenantId } = caller;
  return {
    name: 'reactions',
    archiving: { verb: 'disable', note: 'events received meanwhile do not reach it later' },
    keyOf: (entry) => ['campaignId', 'name'].map((field) => textIn(entry, field)).join('/'),
    read: async (manager) => {
      const reactions = await allOf<Reaction>(async (after, limit) => {
        const { campaignId = '', name = '' } = after ?? {};
        return budget.spend(await service.after(tenantId, { campaignId, name }, limit, manager));
      });
      return reactions.map((reaction) => ({
        key: `${reaction.campaignId}/${reaction.name}`,
        entry: entryOfReaction(reaction),
        isArchived: !reaction.enabled,
      }));
    },
    parse: (given) => {
      const parsed = parseReactionDefinition(bodyOf(given));
      const faults = [...campaignFaults(given), ...('faults' in parsed ? parsed.faults : [])];
      if ('faults' in parsed || faults.length > 0) return Promise.reject(validationFailed(faults));
      return Promise.resolve(entryOf({ campaignId: given['campaignId'], ...parsed.definition }, DEFAULTS));
    },
    checkAgainst: async (entry, target) => {
      const campaignId = textIn(entry, 'campaignId');
      await service.check(caller, campaignId, bodyOf(entry), '', declarationsOf(target('variables'), campaignId));
    },
    apply: (changes, { precondition }) => {
      const defined = changes.flatMap(({ after }) => {
        return after === undefined ? [] : [{ campaignId: textIn(after, 'campaignId'), body: bodyOf(after) }];
      });
      const disabled = changes.flatMap(({ action, before }) => {
        if (action !== 'archive' || before === undefined) return [];
        return [{ campaignId: textIn(before, 'campaignId'), name: textIn(before, 'name') }];
      });
      return service.changeAll(caller, { defined, disabled }, precondition);
    },
  };
}

function entryOfReaction({
  campaignId,
  name,
  eventType,
  source,
  condition,
  operations,
  enabled,
}: Reaction): ConfigurationEntry {
  return entryOf({ campaignId, name, eventType, source, when: condition, ops: operations, enabled }, DEFAULTS);
}

function bodyOf(entry: ConfigurationEntry): ConfigurationEntry {
  return without(entry, 'campaignId');
}
