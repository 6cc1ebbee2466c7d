import { Injectable } from '@nestjs/common';
import type { Principal } from '../platform/auth/principal';
import type { Fault } from '../platform/errors/fault';
import { validationFailed } from '../platform/errors/validation-failed';
import { BodyValidators } from '../platform/http/body/body-validators';
import { Clock } from '../platform/values/clock';
import { isObject } from '../platform/values/json/json-values';
import { expiryOf, expiryOfCaller } from './domain/api-key-lifetime';
import { CreateApiKeyDto } from './dto/create-api-key.dto';

/** Checks the body of a new key: its shape by the DTO, and when it is to expire. Reports all faults together. */
@Injectable()
export class ApiKeyRequestCheck {
  constructor(
    private readonly validators: BodyValidators,
    private readonly clock: Clock,
  ) {}

  /** Throws `validation_failed`. */
  check(caller: Principal, body: unknown): CreateApiKeyDto {
    const { value, faults: shapeFaults = [] } = this.validators.for(CreateApiKeyDto)(body);
    if (value !== undefined && shapeFaults.length === 0) return value;
    const lifetimeFaults = isObject(body) ? this.lifetimeFaults(caller, body) : [];
    throw validationFailed([
      ...shapeFaults,
      ...lifetimeFaults.filter(({ path }) => !shapeFaults.some((fault) => fault.path === path)),
    ]);
  }

  /** Of a body with other faults. A field of another type is ignored here, because the DTO's check reports it. */
  private lifetimeFaults(caller: Principal, { expiresAt, expiresInDays }: Record<string, unknown>): readonly Fault[] {
    const wanted = {
      expiresAt: typeof expiresAt === 'string' ? expiresAt : undefined,
      expiresInDays: Number.isInteger(expiresInDays) ? (expiresInDays as number) : undefined,
    };
    const expiry = expiryOf(wanted, this.clock.now(), expiryOfCaller(caller));
    return 'fault' in expiry ? [expiry.fault] : [];
  }
}
