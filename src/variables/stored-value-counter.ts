import { Injectable } from '@nestjs/common';
import type { VariableScope } from './domain/variable';

/** Which values are counted: those of a variable that a read would show now, against its limits. */
export interface CountedValues {
  readonly campaignId: string;
  readonly scope: VariableScope;
  readonly name: string;
  readonly limits: { readonly min: number | undefined; readonly max: number | undefined };
  /** Epoch milliseconds; values of earlier periods are not shown. Undefined: the variable has no period. */
  readonly periodStart: number | undefined;
}

/** How many stored values are outside of limits. */
export interface ValuesOutside {
  readonly belowMin: number;
  readonly aboveMax: number;
}

export type CountValuesOutside = (tenantId: string, values: CountedValues) => Promise<ValuesOutside>;

/** Counts stored values. The feature that stores them registers the function when the application starts. */
@Injectable()
export class StoredValueCounter {
  private registered: CountValuesOutside = () => Promise.resolve({ belowMin: 0, aboveMax: 0 });

  register(count: CountValuesOutside): void {
    this.registered = count;
  }

  /** Reads in steps, so that no statement takes long, however many participants a campaign has. */
  countOutside(tenantId: string, values: CountedValues): Promise<ValuesOutside> {
    return this.registered(tenantId, values);
  }
}
