import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyPrincipals } from '../api-keys/api-key-principals';
import { credentialNeeded } from '../platform/errors/challenges';
import { FailedAuthentications } from '../platform/auth/failed-authentications';
import type { Principal } from '../platform/auth/principal';
import { isRefusal } from '../platform/invalidation/negative-cache';
import { proofRequired } from '../platform/auth/fresh-proof';
import { Clock } from '../platform/values/clock';
import { WorkspacesService } from '../workspaces/workspaces.service';
import { ConsoleSessions, type Session } from './console-sessions';
import { SessionGrantSources } from './session-grants';

/** Signing in to the console with an API key, and proving that one still has it. */
@Injectable()
export class ConsoleSignIn {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly sources: SessionGrantSources,
    private readonly keys: ApiKeyPrincipals,
    private readonly failures: FailedAuthentications,
    private readonly workspaces: WorkspacesService,
    private readonly clock: Clock,
  ) {}

  methods(): { key: boolean; oidc: boolean } {
    return { key: this.sources.of('key') !== undefined, oidc: this.sources.of('oidc') !== undefined };
  }

  /**
   * Opens a session for the owner of a key. The session that the browser had ends; its secret is never used again. Throws what
   * `ApiKeyPrincipals` throws, and `rate_limited` after too many wrong keys from one address.
   */
  async withKey(
    request: Request,
    key: string,
    formerSecret: string | undefined,
  ): Promise<{ session: Session; secret: string }> {
    const { tenantId, credentialId } = await this.verified(request, key);
    if (formerSecret !== undefined) await this.sessions.endBySecret(formerSecret);
    return this.sessions.open({ tenantId, via: 'key', grantId: credentialId, provenAt: this.clock.now() });
  }

  /** Ends the session with this secret, whatever it may do now. Throws `unauthenticated` when there is none. */
  async signOut(request: Request, secret: string | undefined): Promise<void> {
    const end = async (): Promise<void> => {
      if (secret === undefined || !(await this.sessions.endBySecret(secret))) {
        throw credentialNeeded('Nobody is signed in to the console.');
      }
    };
    await this.failures.counted(request, () => this.failures.lookUp(request, end));
  }

  /** Renews the proof of a session. Throws `proof_required` when it is not the key of this session. */
  async prove(request: Request, session: Session, key: string): Promise<Session> {
    if (session.via === 'oidc') {
      throw proofRequired('Prove who you are at the identity provider: go to /console/api/oidc/sign-in?prove=true.');
    }
    const shown = await this.verified(request, key).catch((error: unknown) => {
      // Not 401: the session itself goes on.
      if (isRefusal(error)) throw proofRequired(error.message);
      throw error;
    });
    if (shown.tenantId !== session.tenantId || shown.credentialId !== session.grantId) {
      throw proofRequired('This is not the API key that the session was opened with.');
    }
    return this.sessions.prove(session);
  }

  async workspaceOf({ tenantId }: Session): Promise<string> {
    return (await this.workspaces.nameOf(tenantId)) ?? '';
  }

  private async verified(request: Request, key: string): Promise<Principal> {
    const verify = async (): Promise<Principal> => (await this.keys.ofKey(key)).principal;
    return this.failures.counted(request, () => this.failures.lookUp(request, verify));
  }
}
