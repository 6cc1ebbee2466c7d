import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { credentialNeeded } from '../../platform/errors/challenges';
import { unavailable } from '../../platform/errors/unavailable';
import { isRefusal } from '../../platform/invalidation/negative-cache';
import { SecretBox, SecretBoxError } from '../../platform/secrets/secret-box';
import { Clock } from '../../platform/values/clock';
import { nameId } from '../../platform/values/ids';
import { WorkspacesService } from '../../workspaces/workspaces.service';
import type { SessionGrants, SessionRights } from '../session-grants';
import { accessOf } from './domain/oidc-access';
import { OidcGrantRow } from './entities/oidc-grant.entity';
import { OidcProvider, type OidcPerson, type RenewalToken } from './oidc-provider';
import type { Scope } from '../../platform/auth/scopes';

/** Contract section 10: removing a group ends access within 60 s. The provider gets the rest of the time to answer. */
const RENEW_AFTER_MS = 50_000;
/** Longer than the calls of one renewal. A process that was killed meanwhile delays the next one by so much. */
const RENEWING_MS_MAX = 15_000;
const LOOK_AGAIN_MS = 100;
/** How long a request waits for the renewal of another process. */
const PATIENCE_MS = 6_000;

type GrantKey = Pick<OidcGrantRow, 'tenantId' | 'id'>;

/** Takes the turn to renew; no row: another process has it, or the grant is newer or gone. */
const CLAIM = `
  UPDATE console_oidc_grants SET renewing_until = $4
  WHERE tenant_id = $1 AND id = $2 AND renewed_at = $3 AND (renewing_until IS NULL OR renewing_until < $5)
  RETURNING token`;

/** Grants that no session uses any more. A sign-in writes its grant just before its session. */
const REMOVE_UNUSED = `
  DELETE FROM console_oidc_grants g WHERE renewed_at < $1
    AND NOT EXISTS (SELECT 1 FROM console_sessions s WHERE s.tenant_id = g.tenant_id AND s.grant_id = g.id)`;
const UNUSED_MS = 10 * 60_000;

/**
 * The rights of persons who have signed in at the identity provider: those of their groups, asked for again at the latest 60 s
 * after the last answer while they work. The sessions of a person in a workspace share one grant.
 */
@Injectable()
export class OidcGrants implements SessionGrants {
  /** Renewals of this process, which its requests share. */
  private readonly renewals = new Map<string, Promise<OidcGrantRow>>();

  constructor(
    private readonly database: DataSource,
    private readonly provider: OidcProvider,
    private readonly workspaces: WorkspacesService,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores what a person may do in the workspace of this name, else in the first one by name. Undefined when none of their
   * groups gives access to it.
   */
  async give(person: OidcPerson, workspaceName: string | undefined): Promise<GrantKey | undefined> {
    const issuer = this.provider.settings?.issuer ?? '';
    for (const [name, scopes] of this.accessOf(person)) {
      const workspace = workspaceName === undefined || workspaceName === name ? await this.workspaces.find(name) : null;
      if (workspace === null) continue;
      const { tenantId } = workspace;
      const id = nameId(['oidc', issuer, person.subject]);
      const row = { ...this.columns(tenantId, id, person, scopes), tenantId, id, subject: person.subject };
      await this.database.manager.upsert(OidcGrantRow, row, ['tenantId', 'id']);
      return { tenantId, id };
    }
    return undefined;
  }

  /** Throws `unauthenticated` when the sign-in or its access has ended, and `unavailable` while nobody can say. */
  async rightsOf(tenantId: string, grantId: string): Promise<SessionRights> {
    const found = await this.find({ tenantId, id: grantId });
    const ageMs = this.clock.now().getTime() - found.renewedAt.getTime();
    // An age below 0 is that of another clock: nobody knows how old the answer is.
    const isFresh = ageMs >= 0 && ageMs < RENEW_AFTER_MS;
    const { name, subject, scopes } = isFresh ? found : await this.renewed(found);
    return {
      name,
      principal: { tenantId, credentialId: `oidc:${subject}`, scopes: new Set(scopes), sources: null, expiresAt: null },
    };
  }

  /** Removes the grants that no session uses. */
  async removeUnused(): Promise<void> {
    await this.database.query(REMOVE_UNUSED, [new Date(this.clock.now().getTime() - UNUSED_MS)]);
  }

  private async find({ tenantId, id }: GrantKey): Promise<OidcGrantRow> {
    const found = await this.database.manager.findOneBy(OidcGrantRow, { tenantId, id });
    if (found === null) throw credentialNeeded('The sign-in at the identity provider has ended. Sign in again.');
    return found;
  }

  private renewed(row: OidcGrantRow): Promise<OidcGrantRow> {
    const key = `${row.tenantId}/${row.id}`;
    const running = this.renewals.get(key);
    if (running !== undefined) return running;
    const renewal = this.renew(row).finally(() => this.renewals.delete(key));
    this.renewals.set(key, renewal);
    return renewal;
  }

  private async renew(row: OidcGrantRow): Promise<OidcGrantRow> {
    const { tenantId, id, renewedAt } = row;
    const now = this.clock.now();
    const until = new Date(now.getTime() + RENEWING_MS_MAX);
    const [claimed]: [{ token: Buffer }[], number] = await this.database.query(CLAIM, [
      ...[tenantId, id, renewedAt, until, now],
    ]);
    const [taken] = claimed;
    if (taken === undefined) return this.renewedElsewhere(row);
    // A sign-in meanwhile gives a newer grant, which this renewal must not touch.
    const turn = { tenantId, id, renewingUntil: until };
    try {
      const person = await this.provider.renew(row.subject, this.opened(taken.token, row), (renewal) =>
        this.database.manager.update(OidcGrantRow, turn, { token: this.sealed(renewal, row) }),
      );
      const columns = this.columns(tenantId, id, person, await this.scopesIn(tenantId, person));
      await this.database.manager.update(OidcGrantRow, turn, columns);
      return Object.assign(row, columns);
    } catch (error) {
      if (!isRefusal(error)) {
        await this.database.manager.update(OidcGrantRow, turn, { renewingUntil: null });
        throw error;
      }
      const { affected } = await this.database.manager.delete(OidcGrantRow, turn);
      if (affected === 0) return this.renewedElsewhere(row);
      throw error;
    }
  }

  private async renewedElsewhere({ tenantId, id, renewedAt }: OidcGrantRow): Promise<OidcGrantRow> {
    const endMs = this.clock.monotonicMs() + PATIENCE_MS;
    do {
      const found = await this.find({ tenantId, id });
      // Not only later: the time before it may be one of a clock that was ahead.
      if (found.renewedAt.getTime() !== renewedAt.getTime()) return found;
      await wait(LOOK_AGAIN_MS);
    } while (this.clock.monotonicMs() < endMs);
    throw unavailable().ofRead();
  }

  private async scopesIn(tenantId: string, person: OidcPerson): Promise<readonly Scope[]> {
    const name = await this.workspaces.nameOf(tenantId);
    const scopes = name === undefined ? undefined : this.accessOf(person).get(name);
    if (scopes === undefined) throw credentialNeeded('Your groups no longer give access to this workspace.');
    return scopes;
  }

  private accessOf({ groups }: OidcPerson): ReadonlyMap<string, readonly Scope[]> {
    return accessOf(this.provider.settings?.groups ?? new Map(), groups);
  }

  private columns(tenantId: string, id: string, { name, renewal }: OidcPerson, scopes: readonly Scope[]) {
    const token = this.sealed(renewal, { tenantId, id });
    return { name, scopes: [...scopes], token, renewedAt: this.clock.now(), renewingUntil: null };
  }

  private sealed(renewal: RenewalToken, { tenantId, id }: GrantKey): Buffer {
    return this.box.seal(JSON.stringify(renewal), tenantId, id);
  }

  private opened(token: Buffer, { tenantId, id }: GrantKey): RenewalToken {
    try {
      return JSON.parse(this.box.open(token, tenantId, id)) as RenewalToken;
    } catch (error) {
      // Another SECRETS_KEY since: these records last for hours, and a sign-in makes a new one.
      if (error instanceof SecretBoxError) throw credentialNeeded('The session cannot be renewed. Sign in again.');
      throw error;
    }
  }
}
