import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan, MoreThan, Not } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { credentialNeeded } from '../platform/errors/challenges';
import { isRefusal } from '../platform/invalidation/negative-cache';
import { newId } from '../platform/values/ids';
import {
  hasEnded,
  SESSION_IDLE_MS,
  SESSION_MS_MAX,
  sessionEnds,
  type SessionEnds,
  USE_AHEAD_MS_MAX,
} from './domain/session-lifetime';
import { ConsoleSessionRow } from './entities/console-session.entity';
import { SessionGrantSources, type SessionKind } from './session-grants';

/** 256 bits (contract section 10). */
const SECRET_BYTES = 32;
/** One for each browser of those who share a key. Beyond it the sessions that were used least recently end. */
const SESSIONS_PER_GRANT_MAX = 20;
/** A use is stored if the stored one is older than this, so that a page with ten requests writes once. */
const USE_STEP_MS = 10_000;
/** Removed in one statement. */
const REMOVED_MAX = 500;

/** Who signs in, verified by the caller. */
export interface SignIn {
  readonly tenantId: string;
  readonly via: SessionKind;
  /** The id of the API key, or of what stands for it. */
  readonly grantId: string;
  /** When the credential was shown, not later than now. Null: it was not, so that this is no proof. */
  readonly provenAt: Date | null;
}

/** A session that has not ended, with what it may do now. */
export interface Session extends SessionEnds {
  readonly tenantId: string;
  readonly id: string;
  readonly via: SessionKind;
  readonly grantId: string;
  readonly name: string;
  /** The caller of the API, marked as one from the console. */
  readonly principal: Principal;
}

/** The sessions of the console (contract section 10). They are read from the database at each request; that is rare. */
@Injectable()
export class ConsoleSessions {
  /** Hashes of the secrets that the next statement looks up. */
  private wanted: Buffer[] = [];
  private lookUp: Promise<ReadonlyMap<string, ConsoleSessionRow>> | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly sources: SessionGrantSources,
    private readonly clock: Clock,
  ) {}

  /** Opens a session with a fresh secret, which is in this answer only. Throws what `SessionGrants` throws. */
  async open({ tenantId, via, grantId, provenAt }: SignIn): Promise<{ session: Session; secret: string }> {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const now = this.clock.now();
    const row: ConsoleSessionRow = {
      tenantId,
      id: newId(),
      via,
      grantId,
      secretHash: hashOf(secret),
      createdAt: now,
      usedAt: now,
      provenAt,
    };
    const session = await this.withRights(row);
    await this.database.manager.insert(ConsoleSessionRow, row);
    await this.removeOldest(row);
    return { session, secret };
  }

  /**
   * The session with this secret. `isUse`: somebody works, which prolongs it. Throws `unauthenticated` when it has ended, and
   * what `SessionGrants` throws when its rights are gone.
   */
  async find(secret: string, { isUse }: { readonly isUse: boolean }): Promise<Session> {
    const row = await this.rowOf(hashOf(secret));
    if (row === undefined) throw sessionOver();
    const now = this.clock.now();
    if (hasEnded(row, now)) {
      await this.removeUnused([row]);
      throw sessionOver();
    }
    const session = await this.withRights(row);
    if (!isUse || now.getTime() - row.usedAt.getTime() < USE_STEP_MS) return session;
    return this.changed(session, row, { usedAt: now });
  }

  /** Records a proof of who is signed in. The caller has verified it. Throws as `find` does. */
  async prove({ tenantId, id }: Session): Promise<Session> {
    const row = await this.database.manager.findOneBy(ConsoleSessionRow, { tenantId, id });
    if (row === null) throw sessionOver();
    const now = this.clock.now();
    return this.changed(await this.withRights(row), row, { usedAt: now, provenAt: now });
  }

  /** Ends a session at once, on every node. */
  async end({ tenantId, id }: Pick<Session, 'tenantId' | 'id'>): Promise<void> {
    await this.database.manager.delete(ConsoleSessionRow, { tenantId, id });
  }

  /** Ends the session with this secret. Returns whether there was one. */
  async endBySecret(secret: string): Promise<boolean> {
    const { affected } = await this.database.manager.delete(ConsoleSessionRow, { secretHash: hashOf(secret) });
    return affected !== 0;
  }

  /** Removes sessions that have ended. Returns whether there may be more. */
  async removeEnded(): Promise<boolean> {
    const now = this.clock.now().getTime();
    const ended = await this.database.manager.find(ConsoleSessionRow, {
      select: { tenantId: true, id: true, usedAt: true },
      where: [
        { usedAt: LessThan(new Date(now - SESSION_IDLE_MS)) },
        { createdAt: LessThan(new Date(now - SESSION_MS_MAX)) },
        { usedAt: MoreThan(new Date(now + USE_AHEAD_MS_MAX)) },
      ],
      take: REMOVED_MAX,
    });
    await this.removeUnused(ended);
    return ended.length === REMOVED_MAX;
  }

  /** Those who ask at the same moment, such as all viewers of live events, share a statement. */
  private async rowOf(secretHash: Buffer): Promise<ConsoleSessionRow | undefined> {
    this.wanted.push(secretHash);
    this.lookUp ??= Promise.resolve().then(() => this.readWanted());
    return (await this.lookUp).get(secretHash.toString('hex'));
  }

  private async readWanted(): Promise<ReadonlyMap<string, ConsoleSessionRow>> {
    const secretHash = In(this.wanted);
    this.wanted = [];
    this.lookUp = undefined;
    const rows = await this.database.manager.findBy(ConsoleSessionRow, { secretHash });
    return new Map(rows.map((row) => [row.secretHash.toString('hex'), row]));
  }

  private async withRights(row: ConsoleSessionRow): Promise<Session> {
    const { tenantId, id, via, grantId } = row;
    try {
      const rights = await this.sources.of(via)?.rightsOf(tenantId, grantId);
      if (rights === undefined) throw sessionOver();
      const ends = sessionEnds(row, rights.principal.expiresAt);
      const principal = { ...rights.principal, session: { provenUntil: ends.provenUntil } };
      return { tenantId, id, via, grantId, name: rights.name, principal, ...ends };
    } catch (error) {
      if (isRefusal(error)) await this.end(row);
      throw error;
    }
  }

  /** Throws `unauthenticated` if the session has ended since it was read. */
  private async changed(
    session: Session,
    row: ConsoleSessionRow,
    change: Partial<Pick<ConsoleSessionRow, 'usedAt' | 'provenAt'>>,
  ): Promise<Session> {
    const { tenantId, id } = row;
    const { affected } = await this.database.manager.update(ConsoleSessionRow, { tenantId, id }, change);
    if (affected === 0) throw sessionOver();
    const { createdAt, usedAt = row.usedAt, provenAt = row.provenAt } = { createdAt: row.createdAt, ...change };
    const ends = sessionEnds({ createdAt, usedAt, provenAt }, session.principal.expiresAt);
    return { ...session, ...ends, principal: { ...session.principal, session: { provenUntil: ends.provenUntil } } };
  }

  /** Those who sign in at the same time may leave a few more, until the next sign-in. */
  private async removeOldest({ tenantId, grantId, id }: ConsoleSessionRow): Promise<void> {
    const oldest = await this.database.manager.find(ConsoleSessionRow, {
      select: { tenantId: true, id: true, usedAt: true },
      // The new one stays, also where others were used by a clock that was set back since.
      where: { tenantId, grantId, id: Not(id) },
      order: { usedAt: 'DESC', id: 'DESC' },
      skip: SESSIONS_PER_GRANT_MAX - 1,
    });
    await this.removeUnused(oldest);
  }

  /** Those that were used since they were read stay. */
  private async removeUnused(rows: readonly Pick<ConsoleSessionRow, 'tenantId' | 'id' | 'usedAt'>[]): Promise<void> {
    if (rows.length === 0) return;
    await this.database.manager.delete(ConsoleSessionRow, {
      tenantId: In(rows.map(({ tenantId }) => tenantId)),
      id: In(rows.map(({ id }) => id)),
      usedAt: In(rows.map(({ usedAt }) => usedAt)),
    });
  }
}

/** The secret has 256 random bits, so a fast hash protects it as well as a slow one. */
function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function sessionOver(): Error {
  return credentialNeeded('The session has ended. Sign in again.');
}
