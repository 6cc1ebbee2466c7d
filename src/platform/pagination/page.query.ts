import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { QueryText } from '../http/query-text.decorator';
import { CURSOR_CHARACTERS_MAX } from './cursor';

const LIMIT_DEFAULT = 50;

/** How lists are paged (contract section 1). */
export class PageQuery {
  /** Most entries of a page, 1 to 200; 50 when absent. A page of large entries is shorter, and only `nextCursor: null` ends a list. */
  @IsOptional()
  @Matches(/^(?:[1-9]\d?|1\d\d|200)$/, { message: 'limit must be a whole number from 1 to 200' })
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 200, default: LIMIT_DEFAULT })
  limit?: string;

  /** `nextCursor` of the page before, with the same filters and order; in another list it is refused. */
  @QueryText(CURSOR_CHARACTERS_MAX)
  cursor?: string;
}

/** The most entries of the page. */
export function limitOf(query: PageQuery): number {
  return query.limit === undefined ? LIMIT_DEFAULT : Number(query.limit);
}
