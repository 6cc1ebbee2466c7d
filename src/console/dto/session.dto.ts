import type { Scope } from '../../platform/auth/scopes';
import type { Session } from '../console-sessions';
import type { SessionKind } from '../session-grants';

/** Who is signed in, and with which rights. */
export class SessionDto {
  readonly signedIn = true;
  /** The name of the workspace. */
  workspace!: string;
  /** The name of the API key, or of the person. */
  name!: string;
  scopes!: Scope[];
  via!: SessionKind;
  expiresAt!: string;
  idleExpiresAt!: string;
  /** Null: there was no proof. */
  provenUntil!: string | null;

  static of(session: Session, workspace: string): SessionDto {
    const { name, via, principal, expiresAt, idleExpiresAt, provenUntil } = session;
    return {
      signedIn: true,
      workspace,
      name,
      scopes: [...principal.scopes],
      via,
      expiresAt: new Date(expiresAt).toISOString(),
      idleExpiresAt: new Date(idleExpiresAt).toISOString(),
      provenUntil: provenUntil === null ? null : new Date(provenUntil).toISOString(),
    };
  }
}
