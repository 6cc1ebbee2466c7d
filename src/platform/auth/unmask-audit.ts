import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit/audit-log';
import { auditAction, type AuditTable } from '../audit/audit-table';
import type { AuthenticatedRequest } from './caller.decorator';
import { assertFreshProof } from './fresh-proof';
import { scopeMissing } from '../errors/challenges';
import { grants } from './scopes';
import { Clock } from '../values/clock';
import { newId } from '../values/ids';
import { UnmaskAuditLine } from './entities/unmask-audit-line.entity';

/** What an unmasked answer shows. */
interface Shown {
  /** The ids of its records, where the path does not contain them. */
  readonly records?: readonly string[];
  /**
   * The profiles whose data it has: of a customer all, so that each is found when an undo has parted them. Of a refused
   * event none is known.
   */
  readonly profiles: readonly string[];
}

const KIND = 'unmasked_read';
// Only routes of exports end so; they are never masked.
const ACTION = `CASE WHEN what LIKE '%:export' THEN ${auditAction(KIND, 'exported')} ELSE ${auditAction(KIND, 'read')} END`;
/** Entries with the customers that they have shown, each found by its key (docs/adr/0092). $1 is the workspace. */
const OF_CUSTOMER = `(
      SELECT c.tenant_id, c.profile_id, c.at, c.id, a.by, a.address, a.what
      FROM unmasked_customers c
      CROSS JOIN LATERAL (SELECT * FROM unmask_audit WHERE tenant_id = $1 AND id = c.id LIMIT 1) a
    ) AS shown`;

/** A page of customers may have some thousand profiles. */
const INSERT_PROFILES = `
  INSERT INTO unmasked_customers (tenant_id, profile_id, at, id)
  VALUES ($1::uuid, unnest($2::uuid[]), $3::timestamptz, $4::uuid)`;

export const SHOWN_UNMASKED: AuditTable = {
  kind: KIND,
  table: 'unmask_audit',
  at: 'at',
  id: 'id',
  action: ACTION,
  recordId: 'NULL',
  detail: 'what',
  ofRecord: { table: OF_CUSTOMER, where: 'profile_id = record.id' },
};

/** Records who has read unmasked data, when and from which address (contract section 6). */
@Injectable()
export class UnmaskAudit implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    this.log.register(SHOWN_UNMASKED);
  }

  /**
   * Whether the request asks for unmasked data (`?unmask=true`). If so, the audit entry is committed when this resolves. Call
   * it when the shown records are known.
   *
   * Throws `insufficient_scope` without `pii:read`; the guard has checked it before on routes with `unmasks`. Throws
   * `proof_required` in the console without a fresh proof.
   */
  async unmasks(request: AuthenticatedRequest, shown: Shown): Promise<boolean> {
    if (request.query['unmask'] !== 'true') return false;
    await this.note(request, shown);
    return true;
  }

  /** Records an answer that is never masked. Throws `insufficient_scope`, and `proof_required` for the console. */
  async note(
    { caller, ip, method, path, res }: AuthenticatedRequest,
    { records = [], profiles }: Shown,
  ): Promise<void> {
    if (caller === undefined || !grants(caller.scopes, 'pii:read')) throw scopeMissing('pii:read');
    const at = this.clock.now();
    assertFreshProof(caller, at);
    const { tenantId, credentialId: by } = caller;
    const [id, what] = [newId(), [`${method} ${path}`, ...records].join(' ')];
    await this.database.transaction(async (manager) => {
      await manager.insert(UnmaskAuditLine, { tenantId, id, at, by, address: ip ?? null, what });
      if (profiles.length > 0) await manager.query(INSERT_PROFILES, [tenantId, [...new Set(profiles)], at, id]);
    });
    // Caches must not store personal data.
    res?.setHeader('Cache-Control', 'no-store');
  }
}
