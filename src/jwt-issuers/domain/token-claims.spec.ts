import { checkClaims, type ClaimRules } from './token-claims';

const NOW_SECONDS = 1_700_000_000;
const RULES: ClaimRules = {
  tenantId: 'workspace',
  id: 'issuer-id',
  issuer: 'https://login.example.com',
  audience: 'campaigns',
  campaignClaim: 'campaign_id',
  appClaim: 'app_id',
  defaultCampaignId: null,
  allowedCampaignIds: null,
  clockToleranceSeconds: 5,
};
const CLAIMS = { iss: RULES.issuer, aud: RULES.audience, sub: 'jane', exp: NOW_SECONDS + 60 };

const judge = (claims: object, rules: Partial<ClaimRules> = {}) =>
  checkClaims({ ...CLAIMS, ...claims }, { ...RULES, ...rules }, NOW_SECONDS * 1_000);

function refusalOf(claims: object, rules: Partial<ClaimRules> = {}): string {
  const judged = judge(claims, rules);
  return 'refused' in judged ? judged.refused : 'taken';
}

function participantOf(claims: object, rules: Partial<ClaimRules> = {}) {
  const judged = judge(claims, rules);
  if ('refused' in judged) throw new Error(judged.refused);
  return judged.participant;
}

describe('checkClaims', () => {
  it('tells who a token speaks for', () => {
    const claims = { sid: 'session', campaign_id: 'spring', app_id: 'shop' };
    const rules = { defaultCampaignId: 'summer', allowedCampaignIds: new Set(['summer', 'winter']) };
    expect(participantOf(claims, rules)).toEqual({
      tenantId: 'workspace',
      credentialId: 'issuer-id',
      subject: 'jane',
      sessionId: 'session',
      campaignId: 'spring',
      appId: 'shop',
      defaultCampaignId: 'summer',
      allowedCampaignIds: new Set(['summer', 'winter']),
      expiresAt: (NOW_SECONDS + 65) * 1_000,
    });
  });

  it('makes nothing up where a token says nothing', () => {
    for (const claims of [{}, { sid: null, campaign_id: null, app_id: null }, { sid: 7 }, { sid: '' }]) {
      expect(participantOf(claims)).toMatchObject({
        sessionId: null,
        campaignId: null,
        appId: null,
        defaultCampaignId: null,
        allowedCampaignIds: null,
      });
    }
  });

  it.each([
    ['iss', 'https://login.example.com/', 'issuer'],
    ['iss', undefined, 'issuer'],
    ['aud', 'Campaigns', 'audience'],
    ['aud', [], 'audience'],
    ['aud', undefined, 'audience'],
    ['sub', undefined, 'sub'],
    ['sub', null, 'sub'],
    ['sub', '', 'sub'],
    ['sub', ' \t\u00a0\u200b', 'sub'],
    ['sub', 7, 'sub'],
    ['sub', ['jane'], 'sub'],
    ['sub', 'x'.repeat(257), '256 characters'],
    ['sub', 'a\u0000b', 'U+0000'],
    ['sub', 'a\ud800b', 'lone surrogate'],
    ['sid', 'x'.repeat(257), '256 characters'],
    ['sid', 'a\u0000b', 'U+0000'],
    ['exp', undefined, 'exp'],
    ['exp', null, 'exp'],
    ['exp', `${NOW_SECONDS + 60}`, 'exp'],
    ['exp', [NOW_SECONDS + 60], 'exp'],
    ['exp', Number.NaN, 'exp'],
    ['exp', Infinity, 'exp'],
    ['exp', -1e308, 'expired'],
    ['exp', 0, 'expired'],
    ['nbf', null, 'nbf'],
    ['nbf', `${NOW_SECONDS}`, 'nbf'],
    ['nbf', Infinity, 'nbf'],
    ['nbf', 1e308, 'not valid yet'],
    ['campaign_id', '', 'campaign'],
    ['campaign_id', 'no spaces', 'campaign'],
    ['campaign_id', 'x'.repeat(129), 'campaign'],
    ['campaign_id', 'spring\n', 'campaign'],
    ['campaign_id', ['spring'], 'campaign'],
    ['app_id', 7, 'app'],
    ['app_id', '../shop', 'app'],
  ])('refuses %s: %j and says why', (claim, value, words) => {
    expect(refusalOf({ [claim]: value })).toContain(words);
  });

  it('repeats no value in what it says', () => {
    const values = { iss: 'SECRET', aud: 'SECRET', sub: 'SECRET\u0000', exp: 'SECRET', campaign_id: 'SECRET !' };
    for (const [claim, value] of Object.entries(values)) expect(refusalOf({ [claim]: value })).not.toContain('SECRET');
    expect(refusalOf({ SECRET: 'SECRET !' }, { campaignClaim: 'SECRET' })).not.toContain('SECRET');
  });

  it('lets clocks differ by the tolerance and not by more', () => {
    for (const clockToleranceSeconds of [0, 5, 300]) {
      const rules = { clockToleranceSeconds };
      expect(refusalOf({ exp: NOW_SECONDS - clockToleranceSeconds }, rules)).toContain('expired');
      expect(refusalOf({ exp: NOW_SECONDS - clockToleranceSeconds + 0.001 }, rules)).toBe('taken');
      expect(refusalOf({ nbf: NOW_SECONDS + clockToleranceSeconds }, rules)).toBe('taken');
      expect(refusalOf({ nbf: NOW_SECONDS + clockToleranceSeconds + 0.001 }, rules)).toContain('not valid yet');
    }
  });

  it.each([NOW_SECONDS * 1_000, 1e15, 1e308, Number.MAX_VALUE])(
    'takes a token that expires in the far future, %d',
    (exp) => {
      const { expiresAt } = participantOf({ exp });
      expect(Number.isSafeInteger(expiresAt) && expiresAt > NOW_SECONDS * 1_000).toBe(true);
    },
  );

  it('counts 256 characters as people do, not as UTF-16 does', () => {
    expect(participantOf({ sub: '🎉'.repeat(256) }).subject).toHaveLength(512);
    expect(refusalOf({ sub: '🎉'.repeat(257) })).toContain('256 characters');
  });

  it('trims sub as EXTERNAL identifiers are, and keeps its case; sid stays as it is', () => {
    for (const sub of ['Jane', ' Jane ', '\u00a0Jane\t', '\ufeffJane\u200b\n']) {
      expect(participantOf({ sub, sid: ' s ' })).toMatchObject({ subject: 'Jane', sessionId: ' s ' });
    }
    expect(participantOf({ sub: ` ${'x'.repeat(256)} ` }).subject).toHaveLength(256);
  });

  it('takes one of several audiences', () => {
    expect(refusalOf({ aud: ['others', RULES.audience] })).toBe('taken');
  });

  it('finds a claim by any name the issuer says, and nothing that every object inherits', () => {
    const claims = { 'https://example.com/campaign': 'spring', azp: 'shop' };
    const rules = { campaignClaim: 'https://example.com/campaign', appClaim: 'azp' };
    expect(participantOf(claims, rules)).toMatchObject({ campaignId: 'spring', appId: 'shop' });
    for (const campaignClaim of ['constructor', '__proto__', 'toString']) {
      expect(participantOf({}, { campaignClaim }).campaignId).toBeNull();
      const own = JSON.parse(`{"${campaignClaim}": "spring"}`) as object;
      expect(checkClaims({ ...CLAIMS, ...own }, { ...RULES, campaignClaim }, 0)).toHaveProperty('participant');
    }
  });
});
