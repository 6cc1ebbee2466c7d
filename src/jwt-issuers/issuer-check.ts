import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Fault } from '../platform/errors/fault';
import { validationFailed } from '../platform/errors/validation-failed';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/is-object';
import { SecretBox } from '../platform/secrets/secret-box';
import { issuerFaults, type IssuerPolicy } from './domain/issuer-definition';
import { CreateJwtIssuerDto } from './dto/create-jwt-issuer.dto';
import { readInlineJwks, type PublicJwks } from './jwks/inline-jwks';

/** A body that passed, with the public members of its keys only. */
export type IssuerRequest = Omit<CreateJwtIssuerDto, 'jwks'> & { readonly jwks: PublicJwks | undefined };

/** Checks a body as a new issuer: the shape of its fields and what they mean together; every fault (contract section 2). */
@Injectable()
export class IssuerCheck {
  private readonly policy: IssuerPolicy;

  constructor(
    private readonly validators: BodyValidators,
    secrets: SecretBox,
    @Inject(SETTINGS_TOKEN) { jwksAllowPrivate }: Settings,
  ) {
    this.policy = { allowPrivate: jwksAllowPrivate === 'true', canSeal: secrets.canSeal };
  }

  /** Throws `validation_failed`. */
  check(body: unknown): IssuerRequest {
    const { value, faults: shapeFaults = [] } = this.validators.for(CreateJwtIssuerDto)(body);
    const meaningFaults = isObject(body) ? issuerFaults(body, this.policy) : [];
    const faults = [...shapeFaults, ...meaningFaults.filter((fault) => !isNamed(fault, shapeFaults))];
    if (value === undefined || faults.length > 0) throw validationFailed(faults);
    const { jwks, ...others } = value;
    return { ...others, jwks: publicJwks(jwks) };
  }
}

function publicJwks(sent: object | undefined): PublicJwks | undefined {
  if (sent === undefined) return undefined;
  const read = readInlineJwks('jwks', sent);
  if ('faults' in read) throw new Error('A key set that passed the check cannot be read');
  return read.jwks;
}

/** A field whose shape is wrong is named once. */
function isNamed({ path }: Fault, faults: readonly Fault[]): boolean {
  return faults.some((known) => known.path === path);
}
