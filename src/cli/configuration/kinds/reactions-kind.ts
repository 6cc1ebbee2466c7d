import type { EntityManager } from 'typeorm';
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
  type ApplyOptions,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
  type StoredConfigurationEntry,
  type TargetEntries,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';
import { personalPropertiesIn } from './event-types-kind';
import { declarationsOf } from './variables-kind';

const DEFAULTS = { enabled: true };

/** Reactions of all campaigns. Archiving disables them. */
export class ReactionsKind implements ConfigurationKind {
  readonly name = 'reactions';
  readonly archiving = { verb: 'disable', note: 'events received meanwhile do not reach it later' };

  constructor(
    private readonly caller: Principal,
    private readonly budget: ByteBudget,
    private readonly service: ReactionsService,
  ) {}

  keyOf(entry: ConfigurationEntry): string {
    return ['campaignId', 'name'].map((field) => textIn(entry, field)).join('/');
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    const reactions = await allOf<Reaction>(async (after, limit) => {
      const { campaignId = '', name = '' } = after ?? {};
      return this.budget.spend(await this.service.after(this.caller.tenantId, { campaignId, name }, limit, manager));
    });
    return reactions.map((reaction) => ({
      key: `${reaction.campaignId}/${reaction.name}`,
      entry: entryOfReaction(reaction),
      isArchived: !reaction.enabled,
    }));
  }

  parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const parsed = parseReactionDefinition(bodyOf(given));
    const faults = [...campaignFaults(given), ...('faults' in parsed ? parsed.faults : [])];
    if ('faults' in parsed || faults.length > 0) return Promise.reject(validationFailed(faults));
    return Promise.resolve(entryOf({ campaignId: given['campaignId'], ...parsed.definition }, DEFAULTS));
  }

  async checkAgainst(entry: ConfigurationEntry, target: TargetEntries): Promise<void> {
    const campaignId = textIn(entry, 'campaignId');
    const declared = declarationsOf(target('variables'), campaignId);
    const personal = personalPropertiesIn(target('eventTypes'), textIn(entry, 'eventType'));
    await this.service.check(this.caller, campaignId, bodyOf(entry), '', { declared, personal });
  }

  apply(changes: readonly PlannedChange[], { precondition }: ApplyOptions): Promise<void> {
    const defined = changes.flatMap(({ after }) => {
      return after === undefined ? [] : [{ campaignId: textIn(after, 'campaignId'), body: bodyOf(after) }];
    });
    const disabled = changes.flatMap(({ action, before }) => {
      if (action !== 'archive' || before === undefined) return [];
      return [{ campaignId: textIn(before, 'campaignId'), name: textIn(before, 'name') }];
    });
    return this.service.changeAll(this.caller, { defined, disabled }, precondition);
  }
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
