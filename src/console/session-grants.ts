import { Injectable } from '@nestjs/common';
import type { Principal } from '../platform/auth/principal';

/** How somebody has signed in: with an API key, or at an identity provider. */
export type SessionKind = 'key' | 'oidc';

/** What a session may do now. */
export interface SessionRights {
  /** Who it is, to be shown to that person: the name of the key, or of the person. */
  readonly name: string;
  /** The caller of the API. Its `expiresAt` ends the session. */
  readonly principal: Principal;
}

/** Where the sessions of one kind have their rights from. */
export interface SessionGrants {
  /**
   * The rights at this moment, asked for at each request: a change must show within a second. Throws a refusal with status
   * 401 when they are gone, which ends the session.
   */
  rightsOf(tenantId: string, grantId: string): SessionRights | Promise<SessionRights>;
}

/** The sources of rights. Each kind of sign-in registers its own. */
@Injectable()
export class SessionGrantSources {
  private readonly sources = new Map<SessionKind, SessionGrants>();

  register(kind: SessionKind, grants: SessionGrants): void {
    this.sources.set(kind, grants);
  }

  /** Undefined when nobody can sign in this way any more. */
  of(kind: SessionKind): SessionGrants | undefined {
    return this.sources.get(kind);
  }
}
