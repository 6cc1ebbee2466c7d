import { ApiProperty } from '@nestjs/swagger';
import { FAULT_CODES, type FaultCode } from './fault-codes';

/** One thing that is wrong with an input. */
export class FaultDto {
  /**
   * The field, the way the client wrote it; empty for the whole body.
   * @example "identity.type"
   */
  path!: string;

  @ApiProperty({ enum: Object.keys(FAULT_CODES), enumName: 'FaultCode' })
  code!: FaultCode;

  /** What is wrong and how to correct it; never the value itself. */
  message!: string;
}
