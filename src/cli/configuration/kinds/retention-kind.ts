import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../platform/auth/principal';
import { validationFailed } from '../../../platform/errors/validation-failed';
import type { BodyValidators } from '../../../platform/http/body/body-validators';
import { ChangeRetentionDto } from '../../../retention/dto/retention.dto';
import type { RetentionService } from '../../../retention/retention.service';
import type {
  ApplyOptions,
  ChangeReview,
  ConfigurationEntry,
  ConfigurationKind,
  PlannedChange,
  StoredConfigurationEntry,
} from '../configuration-kind';

const KEY = 'events';

/** How long events are kept. A workspace always has it, so nothing is ever archived. */
export class RetentionKind implements ConfigurationKind {
  readonly name = 'retention';
  readonly archiving = undefined;

  constructor(
    private readonly caller: Principal,
    private readonly service: RetentionService,
    private readonly validators: BodyValidators,
  ) {}

  keyOf(): string {
    return KEY;
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    const rule = await this.service.find(this.caller.tenantId, manager);
    return [{ key: KEY, entry: { eventDays: rule?.eventDays ?? null }, isArchived: false }];
  }

  parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const { value, faults = [] } = this.validators.for<ChangeRetentionDto>(ChangeRetentionDto)(given);
    if (value === undefined || faults.length > 0) return Promise.reject(validationFailed(faults));
    return Promise.resolve({ eventDays: value.eventDays ?? null });
  }

  review(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview {
    const [days, daysBefore] = [daysIn(after), before === undefined ? null : daysIn(before)];
    if (days === null || (daysBefore !== null && daysBefore <= days)) return {};
    return { notes: [`events received more than ${days} days ago are removed and never come back`] };
  }

  async apply([change]: readonly PlannedChange[], { precondition }: ApplyOptions): Promise<void> {
    if (change?.after === undefined) return;
    const { tenantId, credentialId: by } = this.caller;
    await this.service.change(tenantId, daysIn(change.after), { by, address: null }, precondition);
  }
}

function daysIn({ eventDays }: ConfigurationEntry): number | null {
  return typeof eventDays === 'number' ? eventDays : null;
}
