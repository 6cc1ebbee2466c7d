import { Injectable, type OnModuleInit } from '@nestjs/common';
import { credentialNeeded, FORBIDDEN_CHALLENGE } from '../../platform/errors/challenges';
import { DomainError } from '../../platform/errors/domain-error';
import { isRefusal } from '../../platform/invalidation/negative-cache';
import { SecretBox } from '../../platform/secrets/secret-box';
import { Clock } from '../../platform/values/clock';
import { ConsoleSessions, type Session } from '../console-sessions';
import { PROOF_MS } from '../domain/session-lifetime';
import { SessionGrantSources } from '../session-grants';
import { OidcGrants } from './oidc-grants';
import { OidcProvider, type OidcPerson } from './oidc-provider';
import type { OidcSignInQuery } from './oidc-sign-in.query';
import type { SignInFlow } from './sign-in-flow';

/** Signing in to the console at the identity provider (contract section 10). */
@Injectable()
export class OidcSignIn implements OnModuleInit {
  constructor(
    private readonly provider: OidcProvider,
    private readonly grants: OidcGrants,
    private readonly sessions: ConsoleSessions,
    private readonly sources: SessionGrantSources,
    private readonly clock: Clock,
    private readonly box: SecretBox,
  ) {}

  /** Throws when the service cannot keep what a sign-in needs. */
  onModuleInit(): void {
    if (this.provider.settings === undefined) return;
    if (!this.box.canSeal)
      throw new Error('OIDC_ISSUER needs SECRETS_KEY, by which the tokens of sign-ins are sealed.');
    this.sources.register('oidc', this.grants);
  }

  /**
   * `callback`: the address to come back to, as this browser has it; undefined when the request does not say. Throws
   * `not_found`, `unavailable`, and `malformed_json` without an address to come back to.
   */
  async begin(
    { workspace, page = '', prove }: OidcSignInQuery,
    callback: string | undefined,
    formerSecret: string | undefined,
  ): Promise<{ address: string; flow: SignInFlow }> {
    const redirectUri = this.provider.settings?.redirectUri ?? callback;
    if (redirectUri === undefined) throw noWayBack();
    const isProof = prove === 'true';
    const { address, secrets } = await this.provider.begin(redirectUri, isProof);
    const former = formerSecret === undefined ? undefined : await this.formerOf(formerSecret);
    return { address, flow: { ...secrets, redirectUri, isProof, workspace, page, former } };
  }

  /**
   * Opens a session for the person whom the provider has sent back with this query. A former session of the browser ends.
   * Throws `unauthenticated`, `insufficient_scope` when no group gives access, and `unavailable`.
   */
  async finish(flow: SignInFlow | undefined, search: string): Promise<{ secret: string; page: string }> {
    if (flow === undefined) {
      const message =
        'This sign-in was not begun in this browser, or it has taken longer than 10 minutes. Sign in again.';
      throw credentialNeeded(message);
    }
    const person = await this.provider.redeem(new URL(search, flow.redirectUri), flow, flow.isProof);
    const grant = await this.grants.give(person, flow.workspace);
    if (grant === undefined) throw noAccess(flow.workspace);
    const { tenantId, id: grantId } = grant;
    const { secret } = await this.sessions.open({ tenantId, via: 'oidc', grantId, provenAt: this.provenAt(person) });
    if (flow.former !== undefined) await this.sessions.end(flow.former);
    return { secret, page: flow.page };
  }

  /**
   * When the person has shown who they are; null: too long ago for a proof, or nobody knows. It was before this sign-in
   * where the provider remembers the browser, and asks for nothing.
   */
  private provenAt({ authenticatedAt }: OidcPerson): Date | null {
    if (authenticatedAt === undefined) return null;
    const nowMs = this.clock.now().getTime();
    // The clock of the provider may be ahead.
    const provenAtMs = Math.min(authenticatedAt * 1_000, nowMs);
    return nowMs - provenAtMs < PROOF_MS ? new Date(provenAtMs) : null;
  }

  private async formerOf(secret: string): Promise<Pick<Session, 'tenantId' | 'id'> | undefined> {
    try {
      const { tenantId, id } = await this.sessions.find(secret, { isUse: false });
      return { tenantId, id };
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }
}

/** 400, with the code that requests without Host get. */
function noWayBack(): DomainError {
  const message = 'The Host header names no host to come back to after the sign-in. Send the host of this address.';
  return new DomainError('malformed_json', message);
}

function noAccess(workspace: string | undefined): DomainError {
  const where = workspace === undefined ? 'any workspace of this service' : `the workspace ${workspace}`;
  const message = `You have signed in, but none of your groups gives access to ${where}. Ask its operator to add one.`;
  return new DomainError('insufficient_scope', message, { headers: FORBIDDEN_CHALLENGE });
}
