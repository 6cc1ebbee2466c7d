import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit/audit-log';
import type { AuthenticatedRequest } from './caller.decorator';
import { assertFreshProof } from './fresh-proof';
import { scopeMissing } from '../errors/challenges';
import { grants } from './scopes';
import { Clock } from '../values/clock';
import { newId } from '../values/ids';
import { UnmaskAuditLine } from './entities/unmask-audit-line.entity';

/** Records who has read unmasked data, when and from which address (contract section 6). */
@Injectable()
export class UnmaskAudit implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    // Only routes of exports end so; they are never masked.
    const action = `CASE WHEN what LIKE '%:export' THEN 'exported' ELSE 'read' END`;
    const columns = { at: 'at', id: 'id', action, recordId: 'NULL', detail: 'what' };
    this.log.register({ kind: 'unmasked_read', table: 'unmask_audit', ...columns });
  }

  /**
   * Whether the request asks for unmasked data (`?unmask=true`). If so, the audit entry is committed when this resolves. Call
   * it when the shown records are known. `shown`: their ids, where the path does not contain them.
   *
   * Throws `insufficient_scope` without `pii:read`; the guard has checked it before on routes with `unmasks`. Throws
   * `proof_required` in the console without a fresh proof.
   */
  async unmasks(request: AuthenticatedRequest, shown: readonly string[] = []): Promise<boolean> {
    if (request.query['unmask'] !== 'true') return false;
    await this.note(request, shown);
    return true;
  }

  /** Records an answer that is never masked. Throws `insufficient_scope`, and `proof_required` for the console. */
  async note({ caller, ip, method, path, res }: AuthenticatedRequest, shown: readonly string[] = []): Promise<void> {
    if (caller === undefined || !grants(caller.scopes, 'pii:read')) throw scopeMissing('pii:read');
    const at = this.clock.now();
    assertFreshProof(caller, at);
    await this.database.manager.insert(UnmaskAuditLine, {
      ...{ tenantId: caller.tenantId, id: newId(), at, by: caller.credentialId, address: ip ?? null },
      what: [`${method} ${path}`, ...shown].join(' '),
    });
    // Caches must not store personal data.
    res?.setHeader('Cache-Control', 'no-store');
  }
}
