import type { Schema } from '../../api/api-types';
import { given, linesOf, numberOf, textOf } from '../../design/form-values';
import { jsonOf } from '../../design/json-editor';

export type JwtIssuer = Schema<'JwtIssuerDto'>;
type KeySource = Schema<'KeySource'>;

export const ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const;

/** What the form holds: texts as they are written. */
export interface IssuerFields {
  readonly issuer: string;
  readonly audience: string;
  readonly keySource: KeySource;
  readonly jwksUri: string;
  readonly jwks: string;
  readonly secret: string;
  readonly algorithms: readonly string[];
  readonly defaultCampaignId: string;
  readonly allowedCampaignIds: string;
  readonly campaignClaim: string;
  readonly appClaim: string;
  readonly clockToleranceSeconds: string;
}

export const NEW_ISSUER: IssuerFields = {
  issuer: '',
  audience: '',
  keySource: 'jwksUri',
  jwksUri: '',
  jwks: '{\n  "keys": []\n}',
  secret: '',
  algorithms: [...ALGORITHMS],
  defaultCampaignId: '',
  allowedCampaignIds: '',
  campaignClaim: '',
  appClaim: '',
  clockToleranceSeconds: '',
};

/** A secret is never shown; without a new one it stays. */
export function fieldsOf(issuer: JwtIssuer): IssuerFields {
  return {
    ...NEW_ISSUER,
    issuer: issuer.issuer,
    audience: issuer.audience,
    keySource: issuer.keySource,
    jwksUri: issuer.jwksUri ?? '',
    jwks: issuer.jwks === null ? NEW_ISSUER.jwks : JSON.stringify(issuer.jwks, null, 2),
    algorithms: issuer.keySource === 'secret' ? NEW_ISSUER.algorithms : issuer.algorithms,
    defaultCampaignId: issuer.defaultCampaignId ?? '',
    allowedCampaignIds: issuer.allowedCampaignIds?.join('\n') ?? '',
    campaignClaim: issuer.claims.campaign,
    appClaim: issuer.claims.app,
    clockToleranceSeconds: `${issuer.clockToleranceSeconds}`,
  };
}

/** Throws if the key set is no JSON. */
export function newIssuerBody(fields: IssuerFields): Schema<'CreateJwtIssuerDto'> {
  return { issuer: fields.issuer.trim(), audience: fields.audience.trim(), ...issuerSettings(fields) };
}

/** An empty secret is left out, so that the stored one stays. Throws if the key set is no JSON. */
export function issuerSettings(fields: IssuerFields): Schema<'JwtIssuerSettingsDto'> {
  const { keySource } = fields;
  const claims = given({ campaign: textOf(fields.campaignClaim), app: textOf(fields.appClaim) });
  return given({
    jwksUri: keySource === 'jwksUri' ? fields.jwksUri.trim() : undefined,
    jwks: keySource === 'jwks' ? keySet(fields.jwks) : undefined,
    secret: keySource === 'secret' && fields.secret !== '' ? fields.secret : undefined,
    algorithms: keySource === 'secret' ? undefined : ([...fields.algorithms] as Schema<'JwtAlgorithm'>[]),
    claims: Object.keys(claims).length === 0 ? undefined : claims,
    defaultCampaignId: textOf(fields.defaultCampaignId),
    allowedCampaignIds: linesOf(fields.allowedCampaignIds),
    clockToleranceSeconds: numberOf(fields.clockToleranceSeconds),
  });
}

function keySet(text: string): Record<string, unknown> {
  return jsonOf(text, 'The key set') as Record<string, unknown>;
}
