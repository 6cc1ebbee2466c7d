import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../../platform/pagination/page.query';
import { API_KEY_STATES, type ApiKeyState } from '../domain/api-key-lifetime';

export class ApiKeyQuery extends PageQuery {
  /** Only keys that are in this state now. */
  @IsOptional()
  @IsIn(API_KEY_STATES)
  @ApiPropertyOptional({ enum: API_KEY_STATES })
  state?: ApiKeyState;
}
