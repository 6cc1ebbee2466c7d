import type { EntityManager } from 'typeorm';
import { Declarations } from '../../../variables/domain/declarations';
import { definitionFaults, type VariableDefinition } from '../../../variables/domain/define-variable';
import type { Declaration } from '../../../variables/domain/variable';
import { DefineVariableDto, VariableDto } from '../../../variables/dto/variable.dto';
import type { Variable } from '../../../variables/entities/variable.entity';
import type { VariablesService } from '../../../variables/variables.service';
import type { Principal } from '../../../platform/auth/principal';
import { validationFailed } from '../../../platform/errors/validation-failed';
import type { BodyValidators } from '../../../platform/http/body/body-validators';
import { campaignFaults } from '../campaign-field';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ApplyOptions,
  type ChangeReview,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
  type StoredConfigurationEntry,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

/** Variables of all campaigns. Archiving keeps their values. */
export class VariablesKind implements ConfigurationKind {
  readonly name = 'variables';
  readonly archiving = { verb: 'archive', note: 'its values are kept; declaring it again brings them back' };

  constructor(
    private readonly caller: Principal,
    private readonly budget: ByteBudget,
    private readonly service: VariablesService,
    private readonly validators: BodyValidators,
  ) {}

  keyOf(entry: ConfigurationEntry): string {
    return ['campaignId', 'scope', 'name'].map((field) => textIn(entry, field)).join('/');
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    const variables = await allOf<Variable>(async (after, limit) => {
      const { campaignId = '', scope = '' as Variable['scope'], name = '' } = after ?? {};
      const page = await this.service.after(this.caller.tenantId, { campaignId, scope, name }, limit, manager);
      return this.budget.spend(page);
    });
    return variables.map((variable) => {
      const { campaignId, scope, name } = variable;
      const entry = entryOf(Object.assign({ campaignId }, VariableDto.of(variable)));
      return { key: [campaignId, scope, name].join('/'), entry, isArchived: false };
    });
  }

  parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const body = without(given, 'campaignId');
    const { value, faults = [] } = this.validators.for<DefineVariableDto>(DefineVariableDto)(body);
    const all = [...campaignFaults(given), ...definitionFaults(body, faults)];
    if (value === undefined || all.length > 0) return Promise.reject(validationFailed(all));
    return Promise.resolve(entryOf(Object.assign({ campaignId: given['campaignId'] }, value)));
  }

  review(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview {
    if (before === undefined || before['type'] === after['type']) return {};
    const message = `type was ${textIn(before, 'type')}. A type never changes, because values of it are stored; keep it, or choose another name.`;
    return { faults: [{ path: 'type', code: 'type', message }] };
  }

  apply(changes: readonly PlannedChange[], { precondition }: ApplyOptions): Promise<void> {
    const defined = changes.flatMap(({ after }) => {
      return after === undefined ? [] : [{ campaignId: textIn(after, 'campaignId'), definition: definitionOf(after) }];
    });
    const archived = changes.flatMap(({ action, before }) => {
      if (action !== 'archive' || before === undefined) return [];
      const { scope, name } = definitionOf(before);
      return [{ campaignId: textIn(before, 'campaignId'), scope, name }];
    });
    return this.service.changeAll(this.caller.tenantId, { defined, archived }, precondition);
  }
}

/** What a campaign declares when these entries are in force. */
export function declarationsOf(entries: readonly ConfigurationEntry[], campaignId: string): Declarations {
  const own = entries.filter((entry) => entry['campaignId'] === campaignId);
  return Declarations.from(own.map((entry) => without(entry, 'campaignId') as unknown as Declaration));
}

/** Of an entry that was checked, or is stored. */
function definitionOf(entry: ConfigurationEntry): VariableDefinition {
  return without(entry, 'campaignId') as unknown as VariableDefinition;
}
