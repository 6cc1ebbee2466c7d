import { findAddressedOwner, findStateOwner, type Claims, type NamedField, type NamedOwner } from './state-owner';

const CLAIMS: Claims = {
  subject: 'jane',
  campaignId: null,
  appId: null,
  defaultCampaignId: null,
  allowedCampaignIds: null,
};
const fields = (field: string, values: readonly string[]): NamedField[] => values.map((value) => ({ field, value }));

interface Names {
  campaigns?: string[];
  apps?: string[];
  users?: string[];
}

/** `campaign/app`, or the refusal's code with the fields it names. */
function find(claims: Partial<Claims>, { campaigns = [], apps = [], users = [] }: Names = {}): string {
  const named: NamedOwner = {
    campaigns: fields('campaign_id', campaigns),
    apps: fields('appId', apps),
    users: fields('user_id', users),
  };
  const found = findStateOwner({ ...CLAIMS, ...claims }, named);
  if ('owner' in found) {
    expect(found.owner.subject).toBe('jane');
    return `${found.owner.campaignId}/${found.owner.appId}`;
  }
  const { code, details, message } = found.refusal;
  expect(message).not.toMatch(/jane|john/);
  return [code, ...details.map((fault) => `${fault.path}:${fault.code}`)].join(' ');
}

const VIOLATION = 'context_violation campaign_id:context_violation';

describe('the campaign of a request', () => {
  it('is the one it names, else the token’s, else the issuer’s default, else missing', () => {
    expect(find({ defaultCampaignId: 'd' }, { campaigns: ['a'] })).toBe('a/default');
    expect(find({ campaignId: 't', defaultCampaignId: 'd' })).toBe('t/default');
    expect(find({ defaultCampaignId: 'd' })).toBe('d/default');
    expect(find({})).toBe('campaign_required campaign_id:required');
  });

  it('is the token’s only, if the token names one, whatever else the issuer allows', () => {
    expect(find({ campaignId: 't' }, { campaigns: ['t'] })).toBe('t/default');
    expect(find({ campaignId: 't' }, { campaigns: ['t', 't'] })).toBe('t/default');
    const claims = { campaignId: 't', defaultCampaignId: 'd', allowedCampaignIds: new Set(['a']) };
    expect(find(claims)).toBe('t/default');
    for (const other of ['a', 'd', 'T', '', '__proto__']) expect(find(claims, { campaigns: [other] })).toBe(VIOLATION);
    expect(find(claims, { campaigns: ['t', 'a'] })).toBe(VIOLATION);
  });

  it('is one of those that the issuer allows, if the token names none', () => {
    const allowedCampaignIds = new Set(['a', 'b']);
    expect(find({ allowedCampaignIds }, { campaigns: ['b'] })).toBe('b/default');
    expect(find({ allowedCampaignIds }, { campaigns: ['c'] })).toBe(VIOLATION);
    expect(find({ allowedCampaignIds })).toBe('campaign_required campaign_id:required');
    expect(find({ allowedCampaignIds: new Set() }, { campaigns: ['a'] })).toBe(VIOLATION);
    expect(find({}, { campaigns: ['anything'] })).toBe('anything/default');
  });

  it('may be a default that cannot be named', () => {
    const claims = { defaultCampaignId: 'd', allowedCampaignIds: new Set(['a']) };
    expect(find(claims)).toBe('d/default');
    expect(find(claims, { campaigns: ['d'] })).toBe(VIOLATION);
    expect(find(claims, { campaigns: ['a'] })).toBe('a/default');
  });

  it('is named once or twice alike', () => {
    expect(find({}, { campaigns: ['a', 'a'] })).toBe('a/default');
    expect(find({}, { campaigns: ['a', 'b'] })).toBe('validation_failed campaign_id:conflicting_fields');
    expect(find({ allowedCampaignIds: new Set(['a']) }, { campaigns: ['a', 'b'] })).toBe(VIOLATION);
  });
});

describe('the app and the participant of a request', () => {
  it('are the token’s, the app `default` where it names none', () => {
    expect(find({ campaignId: 't', appId: 'shop' })).toBe('t/shop');
    expect(find({ campaignId: 't', appId: 'shop' }, { apps: ['shop'], users: ['jane'] })).toBe('t/shop');
    expect(find({ campaignId: 't' }, { apps: ['default'] })).toBe('t/default');
  });

  it('cannot be others', () => {
    const app = 'context_violation appId:context_violation';
    expect(find({ campaignId: 't', appId: 'shop' }, { apps: ['default'] })).toBe(app);
    expect(find({ campaignId: 't' }, { apps: ['shop'] })).toBe(app);
    expect(find({ campaignId: 't' }, { users: ['john'] })).toBe('context_violation user_id:context_violation');
    expect(find({ campaignId: 't' }, { users: ['Jane'] })).toContain('context_violation');
  });

  it('are refused together with the campaign, every field at once', () => {
    expect(find({ campaignId: 't' }, { campaigns: ['a'], apps: ['shop'], users: ['john'] })).toBe(
      `${VIOLATION} appId:context_violation user_id:context_violation`,
    );
  });

  it('are refused before a missing campaign is', () => {
    expect(find({}, { users: ['john'] })).toBe('context_violation user_id:context_violation');
  });
});

describe('the owner of state that an address names', () => {
  const findIn = (named: Partial<NamedOwner>) =>
    findAddressedOwner({ campaignId: 'spring', subject: 'jane' }, { campaigns: [], apps: [], users: [], ...named });

  it('is the one of the address, in the app of the body or else the default', () => {
    expect(findIn({})).toEqual({ owner: { campaignId: 'spring', subject: 'jane', appId: 'default' } });
    const named = { campaigns: fields('campaign_id', ['spring']), users: fields('userId', [' jane\t']) };
    expect(findIn({ ...named, apps: fields('app_id', ['web']) })).toEqual({
      owner: { campaignId: 'spring', subject: 'jane', appId: 'web' },
    });
  });

  it('is refused where the body names another campaign or participant, without a word of them', () => {
    const found = findIn({ campaigns: fields('campaignId', ['autumn']), users: fields('user_id', ['john']) });
    if ('owner' in found) throw new Error('It was found');
    const { code, details, message } = found.refusal;
    const faults = details.map((fault) => `${fault.path} ${fault.code}`);
    expect([code, faults]).toEqual([
      'validation_failed',
      ['campaignId conflicting_fields', 'user_id conflicting_fields'],
    ]);
    expect(`${message} ${details.map((fault) => fault.message).join(' ')}`).not.toMatch(/jane|john|spring|autumn/);
  });
});
