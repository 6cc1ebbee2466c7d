import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';

export type Unmask = 'true' | 'false';

/**
 * The parameter `unmask` of a query class: `@Unmaskable() unmask?: Unmask`. Its route says `{ unmasks: true }` to
 * `@AuthenticateApiKey`, and its handler calls `UnmaskAudit.unmasks`.
 */
export function Unmaskable(): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    IsIn(['true', 'false']),
    ApiPropertyOptional({
      enum: ['true', 'false'],
      description: '`true` shows what is masked; takes the scope `pii:read` as well, and is noted in the audit.',
    }),
  );
}

/** The query of a view that has no other parameters. */
export class UnmaskQuery {
  @Unmaskable()
  unmask?: Unmask;
}
