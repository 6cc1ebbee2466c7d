import { IsOptional, IsString, MaxLength } from 'class-validator';

export class DismissDto {
  /**
   * Why nothing is to be done, for whoever looks at it later.
   * @example "Test data of the agency"
   */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  note?: string;
}
