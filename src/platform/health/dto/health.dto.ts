import { ApiProperty } from '@nestjs/swagger';

export class HealthDto {
  /** All is well; anything else is a problem document. */
  @ApiProperty({ enum: ['ok'] })
  status!: 'ok';
}
