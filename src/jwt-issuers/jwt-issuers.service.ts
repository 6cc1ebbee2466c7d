import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/values/ids';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import { isUuid, NIL_UUID } from '../platform/values/uuid';
import type { Page } from '../platform/pagination/page';
import type { TimeKey } from '../platform/pagination/time-key';
import { SecretBox } from '../platform/secrets/secret-box';
import { defaultAlgorithms, keySourcesOf } from './domain/issuer-definition';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { IssuerDefinitionCheck, type IssuerRequest } from './issuer-definition-check';
import { JwtIssuerRepository, type IssuerRules, type NamedPair } from './jwt-issuer.repository';
import { issuerSubject } from './known-issuers';

const CAMPAIGN_CLAIM_DEFAULT = 'campaign_id';
const APP_CLAIM_DEFAULT = 'app_id';
const CLOCK_TOLERANCE_SECONDS_DEFAULT = 5;

const DEVELOPMENT_ISSUER = 'urn:campaign-data-service:development';
const DEVELOPMENT_SECRET_BYTES = 32;
/** Passes the check of a body whose secret is stored already. It is never stored itself. */
const STAND_IN_SECRET = 'x'.repeat(DEVELOPMENT_SECRET_BYTES);

/** An issuer with its secret in plaintext, for code of the service that signs tokens. */
export interface DevelopmentIssuer {
  readonly issuer: JwtIssuer;
  readonly secret: string;
}

/** What `changeAll` does. Bodies are those of `create`. */
export interface IssuerChanges {
  readonly created: readonly unknown[];
  /** `keepsSecret`: the body names no source of keys, and the stored secret stays. */
  readonly changed: readonly { readonly id: string; readonly body: object; readonly keepsSecret: boolean }[];
  readonly deleted: readonly string[];
}

/** An issuer before its registration, which sets `createdAt`. */
type NewIssuer = Omit<JwtIssuer, 'createdAt'>;

/** Registers the issuers of participant tokens (contract section 2, JWT issuers). */
@Injectable()
export class JwtIssuersService {
  constructor(
    private readonly database: DataSource,
    private readonly issuers: JwtIssuerRepository,
    private readonly definitionCheck: IssuerDefinitionCheck,
    private readonly secrets: SecretBox,
    private readonly feed: InvalidationFeed,
  ) {}

  /**
   * Registers an issuer. Its tokens are accepted at once on this node, and within a second on every other node. Throws
   * `validation_failed`, and `issuer_taken` when the workspace has registered the same issuer and audience before. The
   * answer reveals nothing about other workspaces.
   */
  async create({ tenantId, credentialId }: Principal, body: unknown): Promise<JwtIssuer> {
    const issuer = this.newIssuer(tenantId, this.definitionCheck.check(body), 'api', credentialId);
    const registered = await this.register(issuer);
    if (registered === null) throw issuerTaken();
    return registered;
  }

  /**
   * Creates, changes and deletes several issuers in one transaction: all of it, or nothing. Throws what `create` and
   * `delete` throw, and what `precondition` throws. A changed issuer keeps its id and its place among the workspaces that
   * registered its pair.
   */
  async changeAll(
    { tenantId, credentialId }: Principal,
    { created, changed, deleted }: IssuerChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    const made = created.map((body) => {
      return this.newIssuer(tenantId, this.definitionCheck.check(body), 'api', credentialId);
    });
    // Locks of pairs are taken in one order.
    made.sort((a, b) => (pairOf(a).id < pairOf(b).id ? -1 : 1));
    const rules = changed.map(({ id, body, keepsSecret }) => {
      return { id, rules: this.rulesOf(tenantId, id, this.checkKeeping(body, keepsSecret)), keepsSecret };
    });
    const gone = [...deleted, ...changed.map(({ id }) => id)].map((id) => issuerSubject({ tenantId, id }));
    await this.database.transaction(async (manager) => {
      for (const issuer of made) await this.feed.announce(manager, pairOf(issuer));
      await this.issuers.lock(manager, tenantId, [...deleted, ...changed.map(({ id }) => id)]);
      await precondition(manager);
      for (const each of rules) {
        const { secret, ...others } = each.rules;
        await this.issuers.update(manager, tenantId, each.id, each.keepsSecret ? others : { ...others, secret });
      }
      for (const id of deleted) await this.issuers.delete(manager, tenantId, id);
      for (const issuer of made) {
        const stored = { ...issuer, createdAt: await this.issuers.nextTime(manager, issuer) };
        if (!(await this.issuers.insert(manager, stored))) throw issuerTaken();
      }
      for (const subject of gone) await this.feed.announce(manager, subject);
    });
    for (const subject of [...gone, ...made.map(issuerSubject)]) this.feed.forget(subject);
  }

  /** A body of `create`; with `keepsSecret` it names no source of keys. Throws `validation_failed`. */
  checkKeeping(body: object, keepsSecret: boolean): IssuerRequest {
    return this.definitionCheck.check(keepsSecret ? { ...body, secret: STAND_IN_SECRET } : body);
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

  /** Its tokens are refused at once on this node, and within a second on every other node. Throws `not_found`. */
  async delete(tenantId: string, id: string): Promise<JwtIssuer> {
    if (!isUuid(id)) throw unknownIssuer();
    const deleted = await this.database.transaction(async (manager) => {
      const issuer = await this.issuers.delete(manager, tenantId, id);
      if (issuer !== null) await this.feed.announce(manager, issuerSubject(issuer));
      return issuer;
    });
    if (deleted === null) throw unknownIssuer();
    this.feed.forget(issuerSubject(deleted));
    return deleted;
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
    await this.register(this.newIssuer(tenantId, request, 'development', credentialId));
    const found = await this.issuers.findOwn(tenantId, name);
    if (found?.origin !== 'development' || found.secret === null) throw issuerTaken();
    return { issuer: found, secret: this.secrets.open(found.secret, tenantId, found.id) };
  }

  /** Whether its tokens belong to its workspace without the header `X-Workspace`. */
  async isFirst(issuer: JwtIssuer): Promise<boolean> {
    return (await this.issuers.findFirst(issuer))?.id === issuer.id;
  }

  /** Null when the workspace has registered the pair already. */
  private async register(issuer: NewIssuer): Promise<JwtIssuer | null> {
    const registered = await this.database.transaction(async (manager) => {
      // Takes the lock of the pair. Registrations of it in any workspace wait for this commit, so that all nodes agree on
      // which workspace was first.
      await this.feed.announce(manager, pairOf(issuer));
      const stored = { ...issuer, createdAt: await this.issuers.nextTime(manager, issuer) };
      return (await this.issuers.insert(manager, stored)) ? stored : null;
    });
    // Other nodes need no announcement: they cache an unknown issuer for less than a second.
    if (registered !== null) this.feed.forget(issuerSubject(registered));
    return registered;
  }

  private newIssuer(
    tenantId: string,
    request: IssuerRequest,
    origin: JwtIssuer['origin'],
    createdBy: string,
  ): NewIssuer {
    const { issuer, audience } = request;
    const id = newId();
    return { tenantId, id, issuer, audience, ...this.rulesOf(tenantId, id, request), origin, createdBy };
  }

  private rulesOf(tenantId: string, id: string, request: IssuerRequest): IssuerRules {
    const { algorithms, jwksUri, jwks, secret, claims } = request;
    const [source] = keySourcesOf({ jwksUri, jwks, secret });
    if (source === undefined) throw new Error('An issuer without a source of keys passed the check');
    return {
      algorithms: algorithms ?? [...defaultAlgorithms(source)],
      jwksUri: jwksUri ?? null,
      jwks: jwks ?? null,
      secret: secret === undefined ? null : this.secrets.seal(secret, tenantId, id),
      campaignClaim: claims?.campaign ?? CAMPAIGN_CLAIM_DEFAULT,
      appClaim: claims?.app ?? APP_CLAIM_DEFAULT,
      defaultCampaignId: request.defaultCampaignId ?? null,
      allowedCampaignIds: request.allowedCampaignIds ?? null,
      clockToleranceSeconds: request.clockToleranceSeconds ?? CLOCK_TOLERANCE_SECONDS_DEFAULT,
    };
  }
}

/** The subject of a pair belongs to no workspace: any may register the pair. */
function pairOf({ issuer, audience }: NamedPair): InvalidationSubject {
  const id = hash('sha256', JSON.stringify([issuer, audience]), 'base64url');
  return { tenantId: NIL_UUID, kind: 'jwt_issuer', id };
}

function issuerTaken(): DomainError {
  return new DomainError(
    'issuer_taken',
    'This issuer and audience are registered already in this workspace; delete that record first, or register another audience.',
  );
}

function unknownIssuer(): DomainError {
  return new DomainError('not_found', 'There is no JWT issuer with this id in this workspace.');
}
