import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuditLog } from '../platform/audit/audit-log';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { limitOf } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import { parseTimeRange } from '../platform/pagination/time-range';
import { AuditLogPageDto, AuditLogQuery } from './dto/audit-log.dto';

@ApiTags('Audit log')
@Controller('v1/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLog) {}

  /** Lists who did what to keys, issuers and service credentials, read unmasked data, or erased persons; newest first. */
  @Get()
  @AuthenticateApiKey('api-keys:read', { and: ['jwt-issuers:read', 'service-credentials:read', 'profiles:read'] })
  @ApiOkResponse({ type: AuditLogPageDto })
  async listAuditLog(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: AuditLogQuery,
  ): Promise<AuditLogPageDto> {
    const { kind, cursor } = query;
    const range = { ...parseTimeRange(query), start: pageStart(cursor) };
    return AuditLogPageDto.of(await this.log.list(tenantId, { ...range, kind, limit: limitOf(query) }));
  }
}
