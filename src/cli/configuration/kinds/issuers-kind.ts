import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../platform/auth/principal';
import type { Fault } from '../../../platform/errors/fault';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { NIL_UUID } from '../../../platform/values/uuid';
import { isAbsent } from '../../../platform/values/json/json-values';
import { defaultAlgorithms } from '../../../jwt-issuers/domain/issuer-definition';
import type { JwtIssuer } from '../../../jwt-issuers/entities/jwt-issuer.entity';
import type { NamedPair } from '../../../jwt-issuers/jwt-issuer.repository';
import type { JwtIssuersService } from '../../../jwt-issuers/jwt-issuers.service';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ApplyOptions,
  type ChangeReview,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
  type StoredConfigurationEntry,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

const DEFAULT_CLAIMS = { campaign: 'campaign_id', app: 'app_id' };
const SHARED_SECRET = { keySource: 'secret' };

/** Issuers of participants' tokens, without secrets and without development issuers. Archiving deletes them. */
export class IssuersKind implements ConfigurationKind {
  readonly name = 'issuers';
  readonly archiving = { verb: 'delete', note: 'its tokens are refused from then on, and a shared secret is gone' };

  constructor(
    private readonly caller: Principal,
    private readonly budget: ByteBudget,
    private readonly service: JwtIssuersService,
  ) {}

  keyOf(entry: ConfigurationEntry): string {
    return keyOfPair({ issuer: textIn(entry, 'issuer'), audience: textIn(entry, 'audience') });
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    const issuers = await allOf<JwtIssuer>(async (after, limit) => {
      return this.budget.spend(await this.service.after(this.caller.tenantId, after?.id ?? NIL_UUID, limit, manager));
    });
    const configured = issuers.filter(({ origin }) => origin !== 'development');
    return configured.map((record) => ({
      key: keyOfPair(record),
      id: record.id,
      entry: entryOfIssuer(record, record.secret !== null, { campaign: record.campaignClaim, app: record.appClaim }),
      isArchived: false,
    }));
  }

  async parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const faults = keySourceFaults(given);
    if (faults.length > 0) throw validationFailed(faults);
    const sharesSecret = given['keySource'] === 'secret';
    const request = this.service.checkKeeping(without(given, 'keySource'), sharesSecret);
    const { campaign, app } = request.claims ?? {};
    return Promise.resolve(entryOfIssuer(request, sharesSecret, { campaign, app }));
  }

  review(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview {
    if (after['keySource'] !== 'secret' || before?.['keySource'] === 'secret') return {};
    const message =
      'keySource is secret, which is in no file; register the issuer by "cds issuers create --secret-file" first.';
    return { faults: [{ path: 'keySource', code: 'required', message }] };
  }

  apply(changes: readonly PlannedChange[], { precondition }: ApplyOptions): Promise<void> {
    const created = changes.flatMap(({ action, after }) => (action === 'create' && after ? [after] : []));
    const changed = changes.flatMap(({ action, id, after }) => {
      if (action !== 'change' || id === undefined || after === undefined) return [];
      return [{ id, body: without(after, 'issuer', 'audience', 'keySource') }];
    });
    const deleted = changes.flatMap(({ action, id }) => (action === 'archive' && id !== undefined ? [id] : []));
    return this.service.changeAll(this.caller, { created, changed, deleted }, precondition);
  }
}

/** Quotes keep an issuer with spaces apart from its audience. */
function keyOfPair({ issuer, audience }: NamedPair): string {
  return `${/^[^\s"]\S*$/.test(issuer) ? issuer : JSON.stringify(issuer)} ${audience}`;
}

/** What a stored issuer and a request for one have in common; the source of its keys apart. */
type IssuerFields = {
  readonly [
    Field in
      | 'issuer'
      | 'audience'
      | 'algorithms'
      | 'jwksUri'
      | 'jwks'
      | 'defaultCampaignId'
      | 'allowedCampaignIds'
      | 'clockToleranceSeconds'
  ]?: unknown;
};

function entryOfIssuer(fields: IssuerFields, sharesSecret: boolean, claims: ConfigurationEntry): ConfigurationEntry {
  const { issuer, audience, algorithms, jwksUri, jwks } = fields;
  const { defaultCampaignId, allowedCampaignIds, clockToleranceSeconds } = fields;
  const named = entryOf(claims, DEFAULT_CLAIMS);
  return entryOf(
    {
      issuer,
      audience,
      algorithms,
      ...(sharesSecret ? SHARED_SECRET : { jwksUri, jwks }),
      claims: Object.keys(named).length === 0 ? undefined : named,
      defaultCampaignId,
      allowedCampaignIds,
      clockToleranceSeconds,
    },
    defaultsOf(sharesSecret),
  );
}

function defaultsOf(hasSecret: boolean): ConfigurationEntry {
  return { algorithms: defaultAlgorithms(hasSecret ? 'secret' : 'jwksUri'), clockToleranceSeconds: 5 };
}

function keySourceFaults({ keySource, secret, jwksUri, jwks }: ConfigurationEntry): Fault[] {
  if (!isAbsent(secret)) {
    const message =
      'secret does not belong into the file. Write keySource: secret, and register the issuer by "cds issuers create --secret-file".';
    return [{ path: 'secret', code: 'unknown_field', message }];
  }
  if (isAbsent(keySource)) return [];
  if (keySource !== 'secret') {
    const message = 'keySource can only be secret; leave it out beside jwksUri or jwks.';
    return [{ path: 'keySource', code: 'enum', message }];
  }
  if (isAbsent(jwksUri) && isAbsent(jwks)) return [];
  const message = 'keySource: secret goes with neither jwksUri nor jwks; leave one of them out.';
  return [{ path: 'keySource', code: 'conflicting_fields', message }];
}
