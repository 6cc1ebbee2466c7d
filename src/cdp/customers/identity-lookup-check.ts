import { Injectable } from '@nestjs/common';
import { validationFailed } from '../../platform/errors/validation-failed';
import { BodyValidators } from '../../platform/http/body/body-validators';
import { isObject } from '../../platform/values/json/json-values';
import { IdentityLookupDto } from './dto/profile.dto';
import { ProfilesService } from './profiles.service';

/** Checks a body that names a person by an identifier: its shape by the DTO, and the identifier. Reports all faults together. */
@Injectable()
export class IdentityLookupCheck {
  constructor(
    private readonly validators: BodyValidators,
    private readonly profiles: ProfilesService,
  ) {}

  /** Throws `validation_failed`. */
  check(body: unknown): IdentityLookupDto {
    const { value: lookup, faults: shapeFaults = [] } = this.validators.for(IdentityLookupDto)(body);
    if (!isObject(body)) throw validationFailed(shapeFaults);
    // A field of another type is absent here, because the DTO's check reports it.
    const parsed = this.profiles.parseIdentity({ type: textOf(body['type']), value: textOf(body['value']) });
    const identifierFaults = 'faults' in parsed ? parsed.faults : [];
    if (lookup !== undefined && shapeFaults.length + identifierFaults.length === 0) return lookup;
    throw validationFailed([
      ...shapeFaults,
      ...identifierFaults.filter(({ path }) => !shapeFaults.some((fault) => fault.path === path)),
    ]);
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
