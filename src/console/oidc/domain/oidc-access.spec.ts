import { readSettings } from '../../../platform/config/env';
import { accessOf, oidcSettings } from './oidc-access';

const GROUPS = { readers: { workspace: 'acme', scopes: ['events:read'] } };
const COMPLETE = {
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'console',
  OIDC_CLIENT_SECRET: 'do-not-show',
  OIDC_GROUPS: JSON.stringify(GROUPS),
};
const read = (environment: Readonly<Record<string, string>>) => oidcSettings(readSettings(environment));
const withGroups = (groups: unknown) => () => read({ ...COMPLETE, OIDC_GROUPS: JSON.stringify(groups) });

describe('the settings of sign-in by an identity provider', () => {
  it('are none, or complete', () => {
    expect(read({})).toBeUndefined();
    expect(read(COMPLETE)).toMatchObject({ issuer: 'https://login.example.com', groupsClaim: 'groups' });
    expect(read(COMPLETE)?.groups.get('readers')).toEqual(GROUPS.readers);
    const some = { OIDC_ISSUER: COMPLETE.OIDC_ISSUER, OIDC_CLIENT_SECRET: COMPLETE.OIDC_CLIENT_SECRET };
    expect(() => read(some)).toThrow(
      'Bad settings: OIDC_CLIENT_ID is missing beside the other OIDC settings; OIDC_GROUPS is missing',
    );
    expect(() => read(some)).not.toThrow('do-not-show');
  });

  it.each([
    ['text', 'must be a JSON object'],
    [{}, 'must be a JSON object that is not empty'],
    [{ a: 1 }, 'has a fault in the group "a": it must be an object with workspace and scopes'],
    [{ a: { workspace: 'no blanks', scopes: ['admin'] } }, 'group "a": workspace is 1 to 128 letters'],
    [{ a: { workspace: 'acme' } }, 'group "a": scopes must be a list'],
    [{ a: { workspace: 'acme', scopes: [] } }, 'group "a": scopes must be a list'],
    [{ a: { workspace: 'acme', scopes: ['admin'], scope: 'x' } }, 'group "a": "scope" is unknown'],
    [{ a: { workspace: 'acme', scopes: ['events'] } }, 'unknown scope in the group "a": "events"'],
  ])('refuse the groups %j', (groups, words) => {
    expect(withGroups(groups)).toThrow(words);
    expect(withGroups(groups)).toThrow('OIDC_GROUPS');
  });

  it('take addresses by https, and by http of this machine only', () => {
    for (const issuer of ['http://127.0.0.1:4200', 'http://localhost', 'https://a.example/realms/b']) {
      expect(read({ ...COMPLETE, OIDC_ISSUER: issuer })?.issuer).toBe(issuer);
    }
    for (const issuer of ['http://a.example', 'login.example.com', 'https://u:p@a.example', 'https://a.example?x=1']) {
      expect(() => read({ ...COMPLETE, OIDC_ISSUER: issuer })).toThrow('OIDC_ISSUER must be an https address');
    }
  });

  it('refuse what is no JSON, and scopes without openid', () => {
    expect(() => read({ ...COMPLETE, OIDC_GROUPS: '{' })).toThrow('OIDC_GROUPS must be JSON');
    expect(() => read({ ...COMPLETE, OIDC_SCOPE: 'profile' })).toThrow('OIDC_SCOPE must be names');
  });
});

describe('the access of groups', () => {
  it('adds up the scopes of a workspace, in the order of the names of workspaces', () => {
    const groups = new Map([
      ['z', { workspace: 'zoo', scopes: ['admin'] }],
      ['r', { workspace: 'acme', scopes: ['review:read'] }],
      ['e', { workspace: 'acme', scopes: ['events:read', 'review:read'] }],
    ]);
    expect([...accessOf(groups, ['z', 'r', 'e', 'unknown', 'e'])]).toEqual([
      ['acme', ['events:read', 'review:read']],
      ['zoo', ['admin']],
    ]);
    expect(accessOf(groups, ['unknown']).size).toBe(0);
  });
});
