import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog, type AuditActor } from '../platform/audit/audit-log';
import { Jobs } from '../platform/jobs/jobs';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import type { EventRetention } from './entities/event-retention.entity';
import { RetentionRepository } from './retention.repository';
import { RETENTION_JOB } from './retention-job';

/** How long workspaces keep their events (contract section 11, docs/adr/0060). */
@Injectable()
export class RetentionService implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly rules: RetentionRepository,
    private readonly jobs: Jobs,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    this.log.registerNotes('retention');
  }

  /** Null: the workspace has never changed it, and all events are kept. */
  find(tenantId: string, manager: EntityManager = this.database.manager): Promise<EventRetention | null> {
    return this.rules.find(manager, tenantId);
  }

  /**
   * In force with the commit: a step of the removal that is under way ends before it, or does nothing. Throws what
   * `precondition` throws, and changes nothing then.
   */
  change(
    tenantId: string,
    eventDays: number | null,
    actor: AuditActor,
    precondition?: TransactionPrecondition,
  ): Promise<EventRetention | null> {
    return this.database.transaction(async (manager) => {
      const { by } = actor;
      if (eventDays === null && (await this.rules.find(manager, tenantId)) === null) {
        // All events are kept already; a row would say that somebody has changed it.
        await precondition?.(manager);
        return null;
      }
      await this.rules.lock(manager, tenantId, by);
      await precondition?.(manager);
      const before = (await this.rules.find(manager, tenantId))?.eventDays ?? null;
      await this.rules.change(manager, tenantId, eventDays, by);
      if (before !== eventDays) {
        const name = `eventDays ${before} → ${eventDays}`;
        const changed = { kind: 'retention', action: 'changed', recordId: null, name, ...actor } as const;
        await this.log.note(manager, tenantId, changed);
      }
      if (eventDays !== null) await this.jobs.add(manager, RETENTION_JOB, {}, { key: 'rest' });
      return this.rules.find(manager, tenantId);
    });
  }
}
