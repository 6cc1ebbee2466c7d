import type { Principal } from '../../../platform/auth/principal';
import type { Fault } from '../../../platform/errors/fault';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { NIL_UUID } from '../../../platform/values/uuid';
import { isAbsent } from '../../../platform/values/json/is-absent';
import { defaultAlgorithms } from '../../../jwt-issuers/domain/issuer-definition';
import type { JwtIssuer } from '../../../jwt-issuers/entities/jwt-issuer.entity';
import type { JwtIssuersService } from '../../../jwt-issuers/jwt-issuers.service';
import {
  allOf,
  entryOf,
  textIn,
  without,
  type ConfigurationEntry,
  type ConfigurationKind,
} from '../configuration-kind';
import type { ByteBudget } from '../byte-budget';

const DEFAULT_CLAIMS = { campaign: 'campaign_id', app: 'app_id' };
const SHARED_SECRET = { keySource: 'secret' };

/** Issuers of participants' tokens, without secrets and without development issuers. Archiving deletes them. */
export function issuersKind(caller: Principal, budget: ByteBudget, service: JwtIssuersService): ConfigurationKind {
  const { tenantId } = caller;
  return {
    name: 'issuers',
    archiving: { verb: 'delete', note: 'its tokens are refused from then on, and a shared secret is gone' },
    keyOf: (entry) => `${textIn(entry, 'issuer')} ${textIn(entry, 'audience')}`,
    read: async (manager) => {
      const issuers = await allOf<JwtIssuer>(async (after, limit) => {
        return budget.spend(await service.after(tenantId, after?.id ?? NIL_UUID, limit, manager));
      });
      return issuers
        .filter(({ origin }) => origin !== 'development')
        .map((issuer) => ({
          key: `${issuer.issuer} ${issuer.audience}`,
          id: issuer.id,
          entry: entryOfIssuer(issuer),
          isArchived: false,
        }));
    },
    parse: (given) => {
      const faults = keySourceFaults(given);
      const keepsSecret = given['keySource'] === 'secret';
      if (faults.length > 0) return Promise.reject(validationFailed(faults));
      const { issuer, audience, algorithms, jwksUri, jwks, claims, ...others } = service.checkKeeping(
        without(given, 'keySource'),
        keepsSecret,
      );
      const { campaign, app } = claims ?? {};
      const named = entryOf({ campaign, app }, DEFAULT_CLAIMS);
      const { defaultCampaignId, allowedCampaignIds, clockToleranceSeconds } = others;
      const source = keepsSecret ? SHARED_SECRET : entryOf({ jwksUri, jwks });
      return Promise.resolve(
        entryOf(
          {
            ...{ issuer, audience, algorithms, ...source },
            claims: Object.keys(named).length === 0 ? undefined : named,
            ...{ defaultCampaignId, allowedCampaignIds, clockToleranceSeconds },
          },
          defaultsOf(keepsSecret),
        ),
      );
    },
    review: (before, after) => {
      if (after['keySource'] !== 'secret' || before?.['keySource'] === 'secret') return {};
      const message =
        'keySource is secret, which is in no file; register the issuer by "cds issuers create --secret-file" first.';
      return { faults: [{ path: 'keySource', code: 'required', message }] };
    },
    apply: (changes, { precondition }) => {
      const created = changes.flatMap(({ action, after }) => (action === 'create' && after ? [after] : []));
      const changed = changes.flatMap(({ action, id, after }) => {
        if (action !== 'change' || id === undefined || after === undefined) return [];
        return [{ id, body: without(after, 'keySource'), keepsSecret: after['keySource'] === 'secret' }];
      });
      const deleted = changes.flatMap(({ action, id }) => (action === 'archive' && id !== undefined ? [id] : []));
      return service.changeAll(caller, { created, changed, deleted }, precondition);
    },
  };
}

function entryOfIssuer(record: JwtIssuer): ConfigurationEntry {
  const { issuer, audience, algorithms, jwksUri, jwks, secret, campaignClaim, appClaim } = record;
  const { defaultCampaignId, allowedCampaignIds, clockToleranceSeconds } = record;
  const claims = entryOf({ campaign: campaignClaim, app: appClaim }, DEFAULT_CLAIMS);
  return entryOf(
    {
      ...{ issuer, audience, algorithms },
      ...(secret === null ? { jwksUri, jwks } : SHARED_SECRET),
      claims: Object.keys(claims).length === 0 ? undefined : claims,
      ...{ defaultCampaignId, allowedCampaignIds, clockToleranceSeconds },
    },
    defaultsOf(secret !== null),
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
