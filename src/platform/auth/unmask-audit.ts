import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthenticatedRequest } from './caller.decorator';
import { scopeMissing } from '../errors/challenges';
import { grants } from './scopes';
import { Clock } from '../values/clock';
import { newId } from '../values/ids';
import { UnmaskAuditLine } from './entities/unmask-audit-line.entity';

/** Who has seen what views mask, when and from where (contract section 6). */
@Injectable()
export class UnmaskAudit {
  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether a view is to show what it masks (`?unmask=true`). If so, that is written down and committed when this resolves;
   * to be asked once it is known what will be shown. `shown`: the ids of it, where the path does not say them.
   *
   * Throws `insufficient_scope` without `pii:read`, which the guard has looked at before where the route says so.
   */
  async unmasks(request: AuthenticatedRequest, shown: readonly string[] = []): Promise<boolean> {
    if (request.query['unmask'] !== 'true') return false;
    await this.note(request, shown);
    return true;
  }

  /** The same for an answer that is never masked. */
  async note({ caller, ip, method, path, res }: AuthenticatedRequest, shown: readonly string[] = []): Promise<void> {
    if (caller === undefined || !grants(caller.scopes, 'pii:read')) throw scopeMissing('pii:read');
    await this.database.manager.insert(UnmaskAuditLine, {
      ...{ tenantId: caller.tenantId, id: newId(), at: this.clock.now(), by: caller.credentialId, address: ip ?? null },
      what: [`${method} ${path}`, ...shown].join(' '),
    });
    // Nobody else is to find it in a cache.
    res?.setHeader('Cache-Control', 'no-store');
  }
}
