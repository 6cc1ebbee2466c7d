import { ApiProperty } from '@nestjs/swagger';
import { API_KEY_ACTIONS, type ApiKeyAction } from '../domain/api-key-action';
import type { ApiKeyAudit } from '../entities/api-key-audit.entity';

/** Something that was done to a key. */
export class ApiKeyAuditEntryDto {
  @ApiProperty({ enum: API_KEY_ACTIONS, enumName: 'ApiKeyAction' })
  action!: ApiKeyAction;

  at!: Date;

  /** The id of the credential that did it, or `bootstrap`. */
  by!: string;

  /** The network address that it was done from; null when the service did it at its start. */
  address!: string | null;

  static of({ action, at, by, address }: ApiKeyAudit): ApiKeyAuditEntryDto {
    return { action, at, by, address };
  }
}

export class ApiKeyAuditPageDto {
  items!: ApiKeyAuditEntryDto[];
  nextCursor!: string | null;
}
