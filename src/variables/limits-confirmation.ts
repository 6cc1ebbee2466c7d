import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DomainError } from '../platform/errors/domain-error';
import { unavailable } from '../platform/errors/unavailable';
import { Jobs, type JobPayload } from '../platform/jobs/jobs';
import { DeclarationStore } from './declaration-store';
import { VARIABLE_SCOPES } from './domain/variable';
import type { Variable } from './entities/variable.entity';
import { LimitsCheck } from './limits-check';
import { declarationReplacedBy } from './replaced-declaration';
import { VariableRepository, type VariableKey } from './variable.repository';

const CONFIRM_JOB = 'confirm-limits';
/** A definition waits for mutations for five seconds, and then counts. */
const LEFT_BEHIND_MS = 10_000;

/**
 * Confirms definitions whose limits stored values may be outside of (docs/adr/0076). Such a definition is in force from
 * its commit on, together with what it replaces. It is confirmed, or taken back, when the mutations have ended that were
 * under way: by the request, or by a job if its process was killed.
 */
@Injectable()
export class LimitsConfirmation implements OnModuleInit {
  private readonly logger = new Logger(LimitsConfirmation.name);

  constructor(
    private readonly database: DataSource,
    private readonly variables: VariableRepository,
    private readonly declarations: DeclarationStore,
    private readonly limits: LimitsCheck,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(CONFIRM_JOB, (payload) => this.confirmLeftBehind(payload, false), {
      giveUp: (payload) => this.confirmLeftBehind(payload, true),
    });
  }

  /** Has a job confirm the definition if nobody else does. In the transaction that stores it. */
  async addJob(manager: EntityManager, { tenantId, campaignId, scope, name }: Variable): Promise<void> {
    const payload = { tenantId, campaignId, scope, name };
    const key = [tenantId, campaignId, scope, name].join('/');
    await this.jobs.add(manager, CONFIRM_JOB, payload, { key, delayMs: LEFT_BEHIND_MS });
  }

  /**
   * Throws `limit_reached` with the number of values outside, or `unavailable`. The definition is then taken back, unless
   * the variable was defined again; that definition is confirmed by itself.
   */
  async confirm(variable: Variable): Promise<void> {
    try {
      await this.assertKept(variable);
      await this.confirmKept(variable);
    } catch (error) {
      await this.takeBack(variable);
      throw error;
    }
  }

  /**
   * Another campaign may have taken back what it shares with this one since both agreed on it: throws `unavailable` then. Holds the
   * locks of a definition.
   */
  private async confirmKept(variable: Variable): Promise<void> {
    const { tenantId, campaignId, scope } = variable;
    const mark = variable.replaced?.mark ?? '';
    if (scope !== 'app') return this.variables.confirm(this.database.manager, variable, mark);
    await this.database.transaction(async (manager) => {
      await this.variables.lockExistingCampaign(manager, tenantId, campaignId);
      const stored = await this.variables.find(manager, tenantId, variable);
      if (stored?.replaced?.mark !== mark) return;
      if (stored.archivedAt === null && (await this.disagrees(manager, stored))) throw unavailable();
      await this.variables.confirm(manager, variable, mark);
    });
  }

  /** Whether another campaign declares the variable of an app otherwise. Locks the name. */
  private async disagrees(
    manager: EntityManager,
    variable: Variable,
    options?: { readonly confirmed: boolean },
  ): Promise<boolean> {
    const { tenantId, name, type } = variable;
    await this.variables.agreedAppType(manager, tenantId, name, type);
    return (await this.variables.findDisagreeing(manager, tenantId, variable, options)) !== null;
  }

  private async assertKept(variable: Variable): Promise<void> {
    await this.limits.untilMutationsEnded(variable.tenantId);
    await this.limits.assertNoneOutside(variable.tenantId, variable.campaignId, variable);
  }

  private async takeBack(variable: Variable): Promise<void> {
    const { tenantId, campaignId } = variable;
    await this.declarations.commit(tenantId, [campaignId], async (manager) => {
      await this.variables.lockExistingCampaign(manager, tenantId, campaignId);
      const stored = await this.variables.find(manager, tenantId, variable);
      if (stored?.replaced == null || stored.replaced.mark !== variable.replaced?.mark) return;
      const before = declarationReplacedBy(stored);
      // Where another one has confirmed the new limits, they hold for every value: a job confirms them here, too.
      if (before?.scope === 'app' && (await this.disagrees(manager, before, { confirmed: true }))) return;
      if (before === null) await this.declarations.delete(manager, stored);
      else await this.declarations.put(manager, before);
    });
  }

  /** `isLast`: takes the definition back, whatever hinders the check. */
  private async confirmLeftBehind(payload: JobPayload, isLast: boolean): Promise<void> {
    const { tenantId = '' } = payload;
    const variable = await this.variables.find(this.database.manager, tenantId, keyIn(payload));
    if (variable?.replaced == null) return;
    try {
      if (isLast) await this.confirm(variable);
      else {
        await this.assertKept(variable);
        await this.confirmKept(variable);
      }
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'limit_reached') throw error;
      await this.takeBack(variable);
      const { scope, name } = variable;
      this.logger.warn(
        `New limits of state.${scope}.${name} were taken back: their process was killed, and a value is outside.`,
      );
    }
  }
}

function keyIn({ campaignId = '', scope: sent, name = '' }: JobPayload): VariableKey {
  const scope = VARIABLE_SCOPES.find((each) => each === sent) ?? 'user';
  return { campaignId, scope, name };
}
