import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';

export class DryRunQuery {
  /** `true` answers as the live call would and writes nothing. */
  @IsOptional()
  @IsIn(['true', 'false'])
  @ApiPropertyOptional({ enum: ['true', 'false'] })
  dry_run?: 'true' | 'false';
}

export function isDryRun(query: DryRunQuery): boolean {
  return query.dry_run === 'true';
}
