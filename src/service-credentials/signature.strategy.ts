import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { SIGNATURE_STRATEGY } from '../platform/auth/auth-metadata';
import { CredentialVerifier } from '../platform/auth/credential-verifier';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import type { RequestState } from '../platform/http/service-request';
import { readSignature, type SignedMessage, isSignedWith } from './domain/request-signature';
import { signatureRefused } from './domain/structured-dictionary';
import { SIGNATURE_SCOPE } from './domain/service-credential';
import { SigningCredentials, type SigningCredential } from './signing-credentials';
import { LastUse } from '../platform/auth/last-use';
import { ServiceCredentialRepository } from './service-credential.repository';

/** Keeps `lastUsedAt` of service credentials. */
@Injectable()
export class ServiceCredentialUse extends LastUse {
  constructor(clock: Clock, credentials: ServiceCredentialRepository) {
    super(clock, (tenantId, id, at) => credentials.storeUse(tenantId, id, at));
  }
}

/** Verifies a signed request (contract section 2). The body is checked later, by the digest that the signature covers. */
@Injectable()
export class SignatureStrategy extends PassportStrategy(Strategy, SIGNATURE_STRATEGY) {
  /** Cached credentials whose use was noted already: every signed request passes here. */
  private readonly noted = new WeakSet<SigningCredential>();

  constructor(
    private readonly credentials: SigningCredentials,
    private readonly use: ServiceCredentialUse,
    private readonly clock: Clock,
    verifier: CredentialVerifier,
  ) {
    super();
    verifier.use(SIGNATURE_STRATEGY, this);
  }

  override authenticate(request: Request): void {
    this.validate(request).then(
      (principal) => this.success(principal),
      (error: unknown) => this.error(error),
    );
  }

  /** Throws `invalid_signature` with the reason, or `unavailable`. */
  async validate(request: Request & RequestState): Promise<Principal> {
    const received = readSignature(signedMessage(request), this.clock.now());
    const credential = await this.credentials.find(received.keyId);
    if (received.algorithm !== credential.key.algorithm) {
      throw signatureRefused('The alg of the signature is not the algorithm of its service credential.');
    }
    if (!isSignedWith(credential.key, received)) {
      throw signatureRefused(
        'The signature does not match this request: sign exactly what is sent, with the right key.',
      );
    }
    request.expectedDigests = received.digests;
    this.note(credential);
    return {
      tenantId: credential.tenantId,
      credentialId: credential.id,
      scopes: new Set([SIGNATURE_SCOPE]),
      sources: null,
      expiresAt: null,
    };
  }

  private note(credential: SigningCredential): void {
    if (this.noted.has(credential)) return;
    this.noted.add(credential);
    this.use.note(credential);
  }
}

function signedMessage({ method, originalUrl, headers }: Request): SignedMessage {
  return {
    method,
    target: originalUrl,
    signatureInput: joined(headers['signature-input']),
    signature: joined(headers['signature']),
    contentDigest: joined(headers['content-digest']),
  };
}

/** Node joins repeated headers itself; its types do not say so. */
function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
