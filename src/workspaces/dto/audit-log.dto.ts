import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsUUID } from 'class-validator';
import { AUDIT_ACTIONS, AUDIT_KINDS, type AuditKind } from '../../platform/audit/audit-kinds';
import type { AuditEntry } from '../../platform/audit/audit-log';
import { QueryText } from '../../platform/http/query-text.decorator';
import type { Page } from '../../platform/pagination/page';
import { PageQuery } from '../../platform/pagination/page.query';

const ACTIONS = [...new Set(Object.values(AUDIT_ACTIONS).flat())];

/** Characters of a time; the longest form of ISO 8601 is shorter. */
const TIME_CHARACTERS_MAX = 64;

export class AuditLogQuery extends PageQuery {
  /** Entries of this kind only. */
  @IsOptional()
  @IsIn(AUDIT_KINDS)
  @ApiPropertyOptional({ enum: AUDIT_KINDS })
  kind?: AuditKind;

  /**
   * Entries about this key, issuer, service credential or webhook; of a customer: the erasure, and who has read or
   * exported unmasked data, also before a merge.
   */
  @IsOptional()
  @IsUUID()
  @ApiPropertyOptional({ format: 'uuid' })
  recordId?: string;

  /** Entries of this time or later. */
  @QueryText(TIME_CHARACTERS_MAX, 'date-time')
  from?: string;

  /** Entries before this time. */
  @QueryText(TIME_CHARACTERS_MAX, 'date-time')
  to?: string;
}

/** Something that was done in the workspace. */
export class AuditLogEntryDto {
  id!: string;

  at!: Date;

  @ApiProperty({ enum: AUDIT_KINDS, enumName: 'AuditKind' })
  kind!: string;

  @ApiProperty({ enum: ACTIONS, enumName: 'AuditAction' })
  action!: string;

  /**
   * The id of the key, issuer, service credential, webhook or erased profile; null for an unmasked read and for
   * retention.
   */
  recordId!: string | null;

  /**
   * The name of the issuer, service credential or webhook; how retention has changed; or the request that read unmasked
   * data with the ids of what it showed. At most 1,000 characters. Null for keys and erasures.
   * @example "warehouse"
   */
  detail!: string | null;

  /** The id of the credential that did it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
  by!: string;

  /** The network address of the caller; null for the service itself. */
  address!: string | null;

  static of({ id, at, kind, action, recordId, detail, by, address }: AuditEntry): AuditLogEntryDto {
    return { id, at, kind, action, recordId, detail, by, address };
  }
}

export class AuditLogPageDto {
  items!: AuditLogEntryDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ rows, nextCursor }: Page<AuditEntry>): AuditLogPageDto {
    return { items: rows.map((entry) => AuditLogEntryDto.of(entry)), nextCursor };
  }
}
