import { isObject } from '../values/json/json-values';
import { PATH_NAME, PATH_NAME_FORM } from '../values/text/path-name';
import { matching, optionalText, setting, SettingFault, textOr } from './setting-parsers';

/** Sign-in to the console by an identity provider (contract section 10). */
export const OIDC_SETTINGS = {
  oidcIssuer: setting(
    'OIDC_ISSUER',
    'Issuer of the identity provider by which persons sign in to the console; unset: by API keys only',
    secureAddress,
  ),
  oidcClientId: setting('OIDC_CLIENT_ID', 'Client id of the console at the identity provider', optionalText),
  oidcClientSecret: setting('OIDC_CLIENT_SECRET', 'Client secret of the console there', optionalText),
  oidcGroups: setting(
    'OIDC_GROUPS',
    'What groups of the identity provider may do, as JSON: {"group": {"workspace": "acme", "scopes": ["events:read"]}}',
    groupAccesses,
  ),
  oidcGroupsClaim: setting('OIDC_GROUPS_CLAIM', 'Claim that lists the groups of a person', textOr('groups')),
  oidcScope: setting(
    'OIDC_SCOPE',
    'Scopes to request from the identity provider, with openid and what it wants for groups and refresh tokens',
    matching(
      /^(?=.*\bopenid\b)[\x21\x23-\x5b\x5d-\x7e ]+$/,
      'must be names separated by blanks, openid among them',
      'openid profile',
    ),
  ),
  oidcRedirectUri: setting(
    'OIDC_REDIRECT_URI',
    'Public address of /console/api/oidc/callback; unset: as the browser has called the service',
    secureAddress,
  ),
} as const;

/** What membership in a group of an identity provider gives. */
export interface GroupAccess {
  readonly workspace: string;
  readonly scopes: readonly string[];
}

const GROUPS_EXAMPLE = '{"support": {"workspace": "acme", "scopes": ["events:read"]}}';

/** By the name of the group. Which scopes there are is checked by the feature that grants them. */
function groupAccesses(text: string | undefined): ReadonlyMap<string, GroupAccess> | undefined {
  if (text === undefined) return undefined;
  const value = parsedJson(text);
  if (!isObject(value) || Object.keys(value).length === 0) {
    throw new SettingFault(`must be a JSON object that is not empty, such as ${GROUPS_EXAMPLE}`);
  }
  return new Map(Object.entries(value).map(([group, access]) => [group, groupAccess(group, access)]));
}

function groupAccess(group: string, access: unknown): GroupAccess {
  const refuse = (words: string): never => {
    throw new SettingFault(`has a fault in the group ${JSON.stringify(group)}: ${words}`);
  };
  if (!isObject(access)) return refuse(`it must be an object with workspace and scopes, as in ${GROUPS_EXAMPLE}`);
  const { workspace, scopes, ...others } = access;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return refuse(`${JSON.stringify(unknown)} is unknown; it takes workspace and scopes`);
  if (typeof workspace !== 'string' || !PATH_NAME.test(workspace)) return refuse(`workspace ${PATH_NAME_FORM}`);
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every((scope) => typeof scope === 'string')) {
    return refuse('scopes must be a list of scopes that is not empty');
  }
  return { workspace, scopes };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingFault(`must be JSON, such as ${GROUPS_EXAMPLE}`);
  }
}

/** An address by https, or by http on a loopback address, where nobody can listen in. */
function secureAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = url !== undefined && /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) {
    if (url.username === '' && url.password === '' && url.search === '' && url.hash === '') return text;
  }
  throw new SettingFault('must be an https address without user, query and fragment, or an http one of this machine');
}
