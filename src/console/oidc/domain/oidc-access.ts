import type { GroupAccess } from '../../../platform/config/oidc-settings';
import type { Settings } from '../../../platform/config/settings';
import { SCOPES, type Scope } from '../../../platform/auth/scopes';

/** How persons sign in at the identity provider, from complete settings. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly groups: ReadonlyMap<string, GroupAccess>;
  readonly groupsClaim: string;
  readonly scope: string;
  readonly redirectUri: string | undefined;
}

/** Undefined when nobody signs in this way. Throws one `Error` that names every setting that is missing or wrong. */
export function oidcSettings(settings: Settings): OidcSettings | undefined {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcGroups, oidcGroupsClaim, oidcScope, oidcRedirectUri } =
    settings;
  const needed = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID: oidcClientId, OIDC_CLIENT_SECRET: oidcClientSecret };
  const all = Object.entries({ ...needed, OIDC_GROUPS: oidcGroups });
  if (all.every(([, value]) => value === undefined)) return undefined;
  const faults = all.flatMap(([name, value]) =>
    value === undefined ? [`${name} is missing beside the other OIDC settings`] : [],
  );
  for (const [group, { scopes }] of oidcGroups ?? []) {
    const unknown = scopes.find((scope) => !isScope(scope));
    if (unknown !== undefined)
      faults.push(`OIDC_GROUPS has an unknown scope in the group ${JSON.stringify(group)}: ${JSON.stringify(unknown)}`);
  }
  if (faults.length > 0) throw new Error(`Bad settings: ${faults.join('; ')}.`);
  return {
    issuer: oidcIssuer ?? '',
    clientId: oidcClientId ?? '',
    clientSecret: oidcClientSecret ?? '',
    groups: oidcGroups ?? new Map(),
    groupsClaim: oidcGroupsClaim,
    scope: oidcScope ?? 'openid',
    redirectUri: oidcRedirectUri,
  };
}

/** The scopes that a person has in each workspace, by its name, in the order of the names. */
export function accessOf(
  groups: OidcSettings['groups'],
  memberOf: readonly string[],
): ReadonlyMap<string, readonly Scope[]> {
  const scopes = new Map<string, Set<Scope>>();
  for (const group of memberOf) {
    const access = groups.get(group);
    if (access === undefined) continue;
    const known = scopes.get(access.workspace) ?? new Set();
    for (const scope of access.scopes) if (isScope(scope)) known.add(scope);
    scopes.set(access.workspace, known);
  }
  const sorted = [...scopes].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([workspace, found]) => [workspace, SCOPES.filter((scope) => found.has(scope))]));
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
