import type { Principal } from '../../../platform/auth/principal';
import { validationFailed } from '../../../platform/errors/validation-failed';
import type { BodyValidators } from '../../../platform/http/body/body-validators';
import { ChangeRetentionDto } from '../../../retention/dto/retention.dto';
import type { RetentionService } from '../../../retention/retention.service';
import type { ConfigurationEntry, ConfigurationKind } from '../configuration-kind';

const KEY = 'events';

/** How long events are kept. A workspace always has it, so nothing is ever archived. */
export function retentionKind(
  { tenantId, credentialId }: Principal,
  { service, validators }: { readonly service: RetentionService; readonly validators: BodyValidators },
): ConfigurationKind {
  return {
    name: 'retention',
    archiving: undefined,
    keyOf: () => KEY,
    read: async (manager) => {
      const rule = await service.find(tenantId, manager);
      return [{ key: KEY, entry: { eventDays: rule?.eventDays ?? null }, isArchived: false }];
    },
    parse: (given) => {
      const { value, faults = [] } = validators.for<ChangeRetentionDto>(ChangeRetentionDto)(given);
      if (value === undefined || faults.length > 0) return Promise.reject(validationFailed(faults));
      return Promise.resolve({ eventDays: value.eventDays ?? null });
    },
    review: (before, after) => {
      const [days, daysBefore] = [daysIn(after), before === undefined ? null : daysIn(before)];
      if (days === null || (daysBefore !== null && daysBefore <= days)) return {};
      return { notes: [`events received more than ${days} days ago are removed and never come back`] };
    },
    apply: async ([change], { precondition }) => {
      if (change?.after === undefined) return;
      await service.change(tenantId, daysIn(change.after), credentialId, precondition);
    },
  };
}

function daysIn({ eventDays }: ConfigurationEntry): number | null {
  return typeof eventDays === 'number' ? eventDays : null;
}
