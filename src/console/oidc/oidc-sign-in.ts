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
import { OidcProvider } from './oidc-provider';
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

  /** `callback`: the address to come back to, as this browser has it. Throws `not_found` and `unavailable`. */
  async begin(
    { workspace, page = '', prove }: OidcSignInQuery,
    callback: string,
    formerSecret: string | undefined,
  ): Promise<{ address: string; flow: SignInFlow }> {
    const redirectUri = this.provider.settings?.redirectUri ?? callback;
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
    if (flow === undefined || new URLSearchParams(search).get('state') !== flow.state) {
      const message =
        'This sign-in was not begun in this browser, or it has taken longer than 10 minutes. Sign in again.';
      throw credentialNeeded(message);
    }
    const person = await this.provider.redeem(new URL(search, flow.redirectUri), flow, flow.isProof);
    const grant = await this.grants.give(person, flow.workspace);
    if (grant === undefined) throw noAccess(flow.workspace);
    const { tenantId, id: grantId } = grant;
    const isProof = this.isFresh(person.authenticatedAt);
    const { secret } = await this.sessions.open({ tenantId, via: 'oidc', grantId, isProof });
    if (flow.former !== undefined) await this.sessions.end(flow.former);
    return { secret, page: flow.page };
  }

  /** A provider that remembers the browser asks for nothing: then the person has not shown who they are. */
  private isFresh(authenticatedAt: number | undefined): boolean {
    return authenticatedAt !== undefined && this.clock.now().getTime() - authenticatedAt * 1_000 < PROOF_MS;
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

function noAccess(workspace: string | undefined): DomainError {
  const where = workspace === undefined ? 'any workspace of this service' : `the workspace ${workspace}`;
  const message = `You have signed in, but none of your groups gives access to ${where}. Ask its operator to add one.`;
  return new DomainError('insufficient_scope', message, { headers: FORBIDDEN_CHALLENGE });
}
