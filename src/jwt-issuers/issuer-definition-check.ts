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

/** A valid body, with the public members of its keys only. */
export type IssuerRequest = Omit<CreateJwtIssuerDto, 'jwks'> & { readonly jwks: PublicJwks | undefined };

/**
 * Checks the body of a new issuer (contract section 2): its shape by the DTO, and the rules between its fields. Reports all
 * faults together.
 */
@Injectable()
export class IssuerDefinitionCheck {
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
    const ruleFaults = isObject(body) ? issuerFaults(body, this.policy) : [];
    const faults = [...shapeFaults, ...ruleFaults.filter((fault) => !hasFaultAt(fault.path, shapeFaults))];
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

/** A field with a wrong shape is reported once. */
function hasFaultAt(path: string, faults: readonly Fault[]): boolean {
  return faults.some((fault) => fault.path === path);
}
