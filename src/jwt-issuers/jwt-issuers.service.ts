import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/values/ids';
import { isUuid, NIL_UUID } from '../platform/values/uuid';
import type { Page } from '../platform/pagination/page';
import type { TimeKey } from '../platform/pagination/time-key';
import { SecretBox } from '../platform/secrets/secret-box';
import { defaultAlgorithms, keySourcesOf } from './domain/issuer-definition';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { IssuerCheck, type IssuerRequest } from './issuer-check';
import { JwtIssuerRepository, type NamedPair } from './jwt-issuer.repository';
import { issuerSubject } from './known-issuers';

const CAMPAIGN_CLAIM_DEFAULT = 'campaign_id';
const APP_CLAIM_DEFAULT = 'app_id';
const CLOCK_TOLERANCE_SECONDS_DEFAULT = 5;

const DEVELOPMENT_ISSUER = 'urn:campaign-data-service:development';
const DEVELOPMENT_SECRET_BYTES = 32;

/** With its secret, which is for whoever mints its tokens within the service. */
export interface DevelopmentIssuer {
  readonly issuer: JwtIssuer;
  readonly secret: string;
}

/** What is known of an issuer before it is registered. */
type NewIssuer = Omit<JwtIssuer, 'createdAt'>;

/** Registers whose tokens the participants of a workspace call with (contract section 2, JWT issuers). */
@Injectable()
export class JwtIssuersService {
  constructor(
    private readonly database: DataSource,
    private readonly issuers: JwtIssuerRepository,
    private readonly issuerCheck: IssuerCheck,
    private readonly secrets: SecretBox,
    private readonly feed: InvalidationFeed,
  ) {}

  /**
   * Registers an issuer; its tokens are taken at once on this node, and within a second on every other one. Throws
   * `validation_failed`, and `issuer_taken` when the workspace has registered the same issuer and audience before; of other
   * workspaces nothing is told.
   */
  async create({ tenantId, credentialId }: Principal, body: unknown): Promise<JwtIssuer> {
    const issuer = this.newIssuer(tenantId, this.issuerCheck.check(body), 'api', credentialId);
    const registered = await this.register(issuer);
    if (registered === null) throw issuerTaken();
    return registered;
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

  /** Its tokens are refused at once on this node, and within a second on every other one. Throws `not_found`. */
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
   * The issuer of a workspace whose secret only the service knows, for trying the runtime out without an identity provider;
   * made when it is not there. `audience` is the workspace's own. Throws `validation_failed` without SECRETS_KEY.
   */
  async developmentIssuer({ tenantId, credentialId }: Principal, audience: string): Promise<DevelopmentIssuer> {
    const name = { issuer: DEVELOPMENT_ISSUER, audience };
    const secret = randomBytes(DEVELOPMENT_SECRET_BYTES).toString('base64url');
    const wanted = this.issuerCheck.check({ ...name, secret });
    // Of any number that are made at once one stays, and everybody gets that.
    await this.register(this.newIssuer(tenantId, wanted, 'development', credentialId));
    const found = await this.issuers.findOwn(tenantId, name);
    if (found?.origin !== 'development' || found.secret === null) throw issuerTaken();
    return { issuer: found, secret: this.secrets.open(found.secret, tenantId, found.id) };
  }

  /** Whether its tokens find its workspace without the header `X-Workspace`. */
  async isFirst(issuer: JwtIssuer): Promise<boolean> {
    return (await this.issuers.findFirst(issuer))?.id === issuer.id;
  }

  /** Null when the workspace has registered the pair already. */
  private async register(issuer: NewIssuer): Promise<JwtIssuer | null> {
    const registered = await this.database.transaction(async (manager) => {
      // Whoever else registers the pair now, in whatever workspace, waits until this is committed: which one was first is the
      // same for everybody from the beginning.
      await this.feed.announce(manager, pairOf(issuer));
      const stored = { ...issuer, createdAt: await this.issuers.nextTime(manager, issuer) };
      return (await this.issuers.insert(manager, stored)) ? stored : null;
    });
    // Other nodes need not be told: that an issuer is unknown is remembered for less than a second.
    if (registered !== null) this.feed.forget(issuerSubject(registered));
    return registered;
  }

  private newIssuer(
    tenantId: string,
    wanted: IssuerRequest,
    origin: JwtIssuer['origin'],
    createdBy: string,
  ): NewIssuer {
    const { issuer, audience, algorithms, jwksUri, jwks, secret, claims } = wanted;
    const [source] = keySourcesOf({ jwksUri, jwks, secret });
    if (source === undefined) throw new Error('An issuer without a source of keys got through the check');
    const id = newId();
    return {
      ...{ tenantId, id, issuer, audience },
      algorithms: algorithms ?? [...defaultAlgorithms(source)],
      jwksUri: jwksUri ?? null,
      jwks: jwks ?? null,
      secret: secret === undefined ? null : this.secrets.seal(secret, tenantId, id),
      campaignClaim: claims?.campaign ?? CAMPAIGN_CLAIM_DEFAULT,
      appClaim: claims?.app ?? APP_CLAIM_DEFAULT,
      defaultCampaignId: wanted.defaultCampaignId ?? null,
      allowedCampaignIds: wanted.allowedCampaignIds ?? null,
      clockToleranceSeconds: wanted.clockToleranceSeconds ?? CLOCK_TOLERANCE_SECONDS_DEFAULT,
      ...{ origin, createdBy },
    };
  }
}

/** Of no workspace: any may register the pair. */
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
