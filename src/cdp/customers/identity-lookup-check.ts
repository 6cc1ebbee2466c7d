import { Injectable } from '@nestjs/common';
import { BodyValidators } from '../../platform/http/body/body-validators';
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
    return this.validators.check(IdentityLookupDto, body, ({ type, value }) => {
      const parsed = this.profiles.parseIdentity({ type: textOf(type), value: textOf(value) });
      return 'faults' in parsed ? parsed.faults : [];
    });
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
