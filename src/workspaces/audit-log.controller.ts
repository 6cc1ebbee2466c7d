import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AUDIT_KINDS, type AuditKind } from '../platform/audit/audit-kinds';
import { AuditLog } from '../platform/audit/audit-log';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { grants, type Scope } from '../platform/auth/scopes';
import { scopeMissing } from '../platform/errors/challenges';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { limitOf } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import { parseTimeRange } from '../platform/pagination/time-range';
import { AuditLogPageDto, AuditLogQuery } from './dto/audit-log.dto';

/**
 * What reads the records of a kind. The route asks for most of them; entries of the others are left out without theirs.
 */
const SCOPES: Readonly<Record<AuditKind, Scope>> = {
  api_key: 'api-keys:read',
  jwt_issuer: 'jwt-issuers:read',
  service_credential: 'service-credentials:read',
  webhook: 'webhooks:read',
  retention: 'admin',
  unmasked_read: 'profiles:read',
  erasure: 'profiles:read',
};

@ApiTags('Audit log')
@Controller('v1/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLog) {}

  /** Lists who did what to records, newest first. Entries of webhooks and retention need `webhooks:read` and `admin`. */
  @Get()
  @AuthenticateApiKey('api-keys:read', { and: ['jwt-issuers:read', 'service-credentials:read', 'profiles:read'] })
  @ApiOkResponse({ type: AuditLogPageDto })
  async listAuditLog(
    @Caller() { tenantId, scopes }: Principal,
    @CheckedQuery() query: AuditLogQuery,
  ): Promise<AuditLogPageDto> {
    const { kind, recordId, cursor } = query;
    if (kind !== undefined && !grants(scopes, SCOPES[kind])) throw scopeMissing(SCOPES[kind]);
    const kinds = kind === undefined ? AUDIT_KINDS.filter((each) => grants(scopes, SCOPES[each])) : [kind];
    const range = { ...parseTimeRange(query), start: pageStart(cursor) };
    return AuditLogPageDto.of(await this.log.list(tenantId, { ...range, kinds, recordId, limit: limitOf(query) }));
  }
}
