import { hash, randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AuditActionOf } from '../platform/audit/audit-kinds';
import { AuditLog, type AuditActor } from '../platform/audit/audit-log';
import type { Principal } from '../platform/auth/principal';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/values/ids';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import { isUuid, NIL_UUID } from '../platform/values/uuid';
import type { Page } from '../platform/pagination/page';
import type { TimeKey } from '../platform/pagination/time-key';
import { SecretBox } from '../platform/secrets/secret-box';
import { defaultAlgorithms } from './domain/issuer-definition';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { IssuerDefinitionCheck, type IssuerSettings } from './issuer-definition-check';
import { JwtIssuerRepository, type NamedPair } from './jwt-issuer.repository';
import { issuerSubject } from './known-issuers';

const CAMPAIGN_CLAIM_DEFAULT = 'campaign_id';
const APP_CLAIM_DEFAULT = 'app_id';
const CLOCK_TOLERANCE_SECONDS_DEFAULT = 5;

const DEVELOPMENT_ISSUER = 'urn:campaign-data-service:development';
const DEVELOPMENT_SECRET_BYTES = 32;

/** An issuer with its secret in plaintext, for code of the service that signs tokens. */
export interface DevelopmentIssuer {
  readonly issuer: JwtIssuer;
  readonly secret: string;
}

/** What `changeAll` does. */
export interface IssuerChanges {
  /** Bodies of `create`. */
  readonly created: readonly unknown[];
  /** Bodies of `change`. */
  readonly changed: readonly { readonly id: string; readonly body: object }[];
  readonly deleted: readonly string[];
}

/** An issuer before its registration, which sets `createdAt`. */
type NewIssuer = Omit<JwtIssuer, 'createdAt'>;

/** What a definition says beside the pair and the secret. */
type Configuration = Omit<NewIssuer, 'tenantId' | 'id' | 'issuer' | 'audience' | 'origin' | 'createdBy' | 'secret'>;

/** Registers the issuers of participant tokens (contract section 2, JWT issuers). */
@Injectable()
export class JwtIssuersService implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly issuers: JwtIssuerRepository,
    private readonly definitionCheck: IssuerDefinitionCheck,
    private readonly secrets: SecretBox,
    private readonly feed: InvalidationFeed,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    this.log.registerNotes('jwt_issuer');
  }

  /**
   * Registers an issuer. Its tokens are accepted at once on this node, and within a second on every other node. Throws
   * `validation_failed`, and `issuer_taken` when the workspace has registered the same issuer and audience before. The
   * answer reveals nothing about other workspaces.
   */
  async create({ tenantId, credentialId }: Principal, body: unknown, address: string | null): Promise<JwtIssuer> {
    const issuer = this.newIssuer(tenantId, this.definitionCheck.check(body), 'api', credentialId);
    const registered = await this.register(issuer, address);
    if (registered === null) throw issuerTaken();
    return registered;
  }

  /**
   * Creates, changes and deletes several issuers in one transaction: all of it, or nothing. Throws what `create`, `change`
   * and `precondition` throw. A changed issuer keeps its id and its place among the workspaces that registered its pair.
   */
  async changeAll(
    { tenantId, credentialId: by }: Principal,
    { created, changed, deleted }: IssuerChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    const actor = { by, address: null };
    const made = created.map((body) => this.newIssuer(tenantId, this.definitionCheck.check(body), 'api', by));
    // Locks of pairs are taken in one order.
    made.sort((a, b) => (pairOf(a).id < pairOf(b).id ? -1 : 1));
    const done = await this.database.transaction(async (manager) => {
      for (const issuer of made) await this.feed.announce(manager, pairOf(issuer));
      await this.issuers.lock(manager, tenantId, [...deleted, ...changed.map(({ id }) => id)]);
      await precondition(manager);
      const issuers: (JwtIssuer | null)[] = [];
      for (const { id, body } of changed) issuers.push(await this.changeIn(manager, tenantId, id, body, actor));
      for (const id of deleted) issuers.push(await this.deleteIn(manager, tenantId, id, actor));
      for (const issuer of made) {
        const stored = await this.insertIn(manager, issuer, actor);
        if (stored === null) throw issuerTaken();
        issuers.push(stored);
      }
      return issuers;
    });
    for (const issuer of done) if (issuer !== null) this.feed.forget(issuerSubject(issuer));
  }

  /** A body of `create`; with `keepsSecret` it names no source of keys. Throws `validation_failed`. */
  checkKeeping(body: object, keepsSecret: boolean): IssuerSettings & NamedPair {
    return this.definitionCheck.check(body, keepsSecret ? 'secret' : undefined);
  }

  /** At most `limit` issuers after an id, by id. In a transaction if one is given. */
  after(
    tenantId: string,
    id: string,
    limit: number,
    manager: EntityManager = this.database.manager,
  ): Promise<JwtIssuer[]> {
    return this.issuers.after(manager, tenantId, id, limit);
  }

  /** One page, newest first. */
  list(tenantId: string, start: TimeKey, limit: number): Promise<Page<JwtIssuer>> {
    return this.issuers.list(tenantId, start, limit);
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<JwtIssuer> {
    const issuer = isUuid(id) ? await this.issuers.find(tenantId, id) : null;
    if (issuer === null) throw unknownIssuer();
    return issuer;
  }

  /**
   * Puts a definition in the place of the stored one; the pair stays, and so do the keys if the body has no source of them.
   * In force at once on this node, and within a second on every other node. Each token is checked by one of the two, so none
   * that fits both is refused. Throws `not_found` and `validation_failed`.
   */
  async change(
    { tenantId, credentialId: by }: Principal,
    id: string,
    body: unknown,
    address: string | null,
  ): Promise<JwtIssuer> {
    if (!isUuid(id)) throw unknownIssuer();
    const changed = await this.database.transaction((manager) => {
      return this.changeIn(manager, tenantId, id, body, { by, address });
    });
    this.feed.forget(issuerSubject(changed));
    return changed;
  }

  private async changeIn(
    manager: EntityManager,
    tenantId: string,
    id: string,
    body: unknown,
    actor: AuditActor,
  ): Promise<JwtIssuer> {
    // Of two changes at once the later one is checked against what the first has stored.
    const stored = await this.issuers.hold(manager, tenantId, id);
    if (stored === null) throw unknownIssuer();
    const settings = this.definitionCheck.checkChange(body, stored);
    const isKept = settings.source === 'secret' && settings.secret === undefined;
    // Sealed for the id as it is stored: that of the path may be in upper case.
    const secret = isKept ? stored.secret : this.sealed(settings, tenantId, stored.id);
    const issuer = Object.assign(stored, configurationOf(settings), { secret });
    await this.issuers.change(manager, issuer);
    await this.feed.announce(manager, issuerSubject(issuer));
    await this.note(manager, 'changed', issuer, actor);
    return issuer;
  }

  /** Its tokens are refused at once on this node, and within a second on every other node. Throws `not_found`. */
  async delete({ tenantId, credentialId: by }: Principal, id: string, address: string | null): Promise<JwtIssuer> {
    if (!isUuid(id)) throw unknownIssuer();
    const deleted = await this.database.transaction((manager) => {
      return this.deleteIn(manager, tenantId, id, { by, address });
    });
    if (deleted === null) throw unknownIssuer();
    this.feed.forget(issuerSubject(deleted));
    return deleted;
  }

  /** Null when there is none. */
  private async deleteIn(
    manager: EntityManager,
    tenantId: string,
    id: string,
    actor: AuditActor,
  ): Promise<JwtIssuer | null> {
    const issuer = await this.issuers.delete(manager, tenantId, id);
    if (issuer === null) return null;
    await this.feed.announce(manager, issuerSubject(issuer));
    await this.note(manager, 'deleted', issuer, actor);
    return issuer;
  }

  /**
   * The development issuer of a workspace, for trials of the runtime without an identity provider. Only the service knows
   * its secret. Created when it does not exist. `audience` is the workspace's own. Throws `validation_failed` without
   * SECRETS_KEY.
   */
  async developmentIssuer({ tenantId, credentialId }: Principal, audience: string): Promise<DevelopmentIssuer> {
    const name = { issuer: DEVELOPMENT_ISSUER, audience };
    const secret = randomBytes(DEVELOPMENT_SECRET_BYTES).toString('base64url');
    const request = this.definitionCheck.check({ ...name, secret });
    // Of any number of concurrent registrations one is stored, and every caller gets that one.
    await this.register(this.newIssuer(tenantId, request, 'development', credentialId), null);
    const found = await this.issuers.findOwn(tenantId, name);
    if (found?.origin !== 'development' || found.secret === null) throw issuerTaken();
    return { issuer: found, secret: this.secrets.open(found.secret, tenantId, found.id) };
  }

  /** Whether its tokens belong to its workspace without the header `X-Workspace`. */
  async isFirst(issuer: JwtIssuer): Promise<boolean> {
    return (await this.issuers.findFirst(issuer))?.id === issuer.id;
  }

  /** Null when the workspace has registered the pair already. */
  private async register(issuer: NewIssuer, address: string | null): Promise<JwtIssuer | null> {
    const registered = await this.database.transaction(async (manager) => {
      // Takes the lock of the pair. Registrations of it in any workspace wait for this commit, so that all nodes agree on
      // which workspace was first.
      await this.feed.announce(manager, pairOf(issuer));
      return this.insertIn(manager, issuer, { by: issuer.createdBy, address });
    });
    // Other nodes need no announcement: they cache an unknown issuer for less than a second.
    if (registered !== null) this.feed.forget(issuerSubject(registered));
    return registered;
  }

  /** The caller holds the lock of the pair. Null when the workspace has registered it already. */
  private async insertIn(manager: EntityManager, issuer: NewIssuer, actor: AuditActor): Promise<JwtIssuer | null> {
    const stored = { ...issuer, createdAt: await this.issuers.nextTime(manager, issuer) };
    if (!(await this.issuers.insert(manager, stored))) return null;
    await this.note(manager, 'created', stored, actor);
    return stored;
  }

  private newIssuer(
    tenantId: string,
    settings: IssuerSettings & NamedPair,
    origin: JwtIssuer['origin'],
    createdBy: string,
  ): NewIssuer {
    const { issuer, audience } = settings;
    const id = newId();
    const secret = this.sealed(settings, tenantId, id);
    return { tenantId, id, issuer, audience, ...configurationOf(settings), secret, origin, createdBy };
  }

  private sealed({ secret }: IssuerSettings, tenantId: string, id: string): Buffer | null {
    return secret === undefined ? null : this.secrets.seal(secret, tenantId, id);
  }

  private note(
    manager: EntityManager,
    action: AuditActionOf<'jwt_issuer'>,
    { tenantId, id: recordId, issuer, audience }: JwtIssuer,
    actor: AuditActor,
  ): Promise<void> {
    const name = `${issuer} for ${audience}`;
    return this.log.note(manager, tenantId, { kind: 'jwt_issuer', action, recordId, name, ...actor });
  }
}

/** What is not sent has its default. */
function configurationOf(settings: IssuerSettings): Configuration {
  const { source, algorithms, jwksUri, jwks, claims } = settings;
  return {
    algorithms: algorithms ?? [...defaultAlgorithms(source)],
    jwksUri: jwksUri ?? null,
    jwks: jwks ?? null,
    campaignClaim: claims?.campaign ?? CAMPAIGN_CLAIM_DEFAULT,
    appClaim: claims?.app ?? APP_CLAIM_DEFAULT,
    defaultCampaignId: settings.defaultCampaignId ?? null,
    allowedCampaignIds: settings.allowedCampaignIds ?? null,
    clockToleranceSeconds: settings.clockToleranceSeconds ?? CLOCK_TOLERANCE_SECONDS_DEFAULT,
  };
}

/** The subject of a pair belongs to no workspace: any may register the pair. */
function pairOf({ issuer, audience }: NamedPair): InvalidationSubject {
  const id = hash('sha256', JSON.stringify([issuer, audience]), 'base64url');
  return { tenantId: NIL_UUID, kind: 'jwt_issuer', id };
}

function issuerTaken(): DomainError {
  return new DomainError(
    'issuer_taken',
    'This issuer and audience are registered already in this workspace; change or delete that record, or register another audience.',
  );
}

function unknownIssuer(): DomainError {
  return new DomainError('not_found', 'There is no JWT issuer with this id in this workspace.');
}
