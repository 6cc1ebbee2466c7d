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
  type ConfigurationEntry,
  type ConfigurationKind,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

/** Variables of all campaigns. Archiving keeps their values. */
export function variablesKind(
  { tenantId }: Principal,
  budget: ByteBudget,
  { service, validators }: { readonly service: VariablesService; readonly validators: BodyValidators },
): ConfigurationKind {
  return {
    name: 'variables',
    archiving: { verb: 'archive', note: 'its values are kept; declaring it again brings them back' },
    keyOf: (entry) => ['campaignId', 'scope', 'name'].map((field) => textIn(entry, field)).join('/'),
    read: async (manager) => {
      const variables = await allOf<Variable>(async (after, limit) => {
        const { campaignId = '', scope = '' as Variable['scope'], name = '' } = after ?? {};
        return budget.spend(await service.after(tenantId, { campaignId, scope, name }, limit, manager));
      });
      return variables.map((variable) => {
        const { campaignId, scope, name } = variable;
        const entry = entryOf({ campaignId, ...VariableDto.of(variable) });
        return { key: [campaignId, scope, name].join('/'), entry, isArchived: false };
      });
    },
    parse: (given) => {
      const body = without(given, 'campaignId');
      const { value, faults = [] } = validators.for<DefineVariableDto>(DefineVariableDto)(body);
      const all = [...campaignFaults(given), ...definitionFaults(body, faults)];
      if (value === undefined || all.length > 0) return Promise.reject(validationFailed(all));
      return Promise.resolve(entryOf({ campaignId: given['campaignId'], ...value }));
    },
    review: (before, after) => {
      if (before === undefined || before['type'] === after['type']) return {};
      const message = `type was ${String(before['type'])}. A type never changes, because values of it are stored; keep it, or choose another name.`;
      return { faults: [{ path: 'type', code: 'type', message }] };
    },
    apply: (changes, { precondition }) => {
      const defined = changes.flatMap(({ after }) => {
        return after === undefined
          ? []
          : [{ campaignId: textIn(after, 'campaignId'), definition: definitionOf(after) }];
      });
      const archived = changes.flatMap(({ action, before }) => {
        if (action !== 'archive' || before === undefined) return [];
        const { scope, name } = definitionOf(before);
        return [{ campaignId: textIn(before, 'campaignId'), scope, name }];
      });
      return service.changeAll(tenantId, { defined, archived }, precondition);
    },
  };
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
