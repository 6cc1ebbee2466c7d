import { REACTION_WARNINGS_MAX, reactionWarnings, type EventTypeFacts } from './reaction-warnings';

const REGISTERED: EventTypeFacts = {
  registered: { version: 3, properties: ['amount', 'items', 'email'], allowsOthers: false },
};
const OPEN: EventTypeFacts = { registered: { version: 1, properties: ['amount'], allowsOthers: true } };
const RECEIVED: EventTypeFacts = { registered: undefined, wasReceived: true, names: [] };

const reading = (path: unknown): Record<string, unknown> => ({ '!': [{ var: path }] });

function warningsOf(fields: { when?: object; valueFrom?: string; eventType?: string }, facts = REGISTERED) {
  const { when, valueFrom, eventType = 'purchase' } = fields;
  const ops = valueFrom === undefined ? [] : [{ path: 'state.user.points', op: 'inc' as const, valueFrom }];
  return reactionWarnings({ eventType, when: when as Record<string, unknown> | undefined, ops }, facts);
}

/** `code meant` of each warning about one `var`. */
function aboutVar(path: unknown, facts = REGISTERED): string[] {
  const warnings = warningsOf({ when: reading(path) }, facts);
  expect(warnings.every((warning) => warning.path === 'when["!"][0].var')).toBe(true);
  return warnings.map(({ code, message }) => [code, / Did you mean (.+)\?$/.exec(message)?.[1]].join(' ').trim());
}

describe('a condition is warned about', () => {
  it.each<[string, string]>([
    ['amount', 'unknown_path event.properties.amount'],
    ['amuont', 'unknown_path event.properties.amount'],
    ['somethingElse', 'unknown_path event.properties.somethingElse'],
    ['order.amount', 'unknown_path event.properties.order.amount'],
    ['event.attributes.amount', 'unknown_path event.properties.amount'],
    ['attributes.amount', 'unknown_path event.properties.amount'],
    ['event.propertis.x', 'unknown_path event.properties.x'],
    ['event.foo', 'unknown_path event.properties.foo'],
    ['event.type', 'unknown_path event.eventType'],
    ['event.external_event_id', 'unknown_path event.externalEventId'],
    ['event.source.name', 'unknown_path event.source'],
    ['event.event.source', 'unknown_path event.properties.event.source'],
    ['identity.external_user_id', 'unknown_path event.identity.externalUserId'],
    ['event.identity.email.domain', 'unknown_path event.identity.email'],
    ['phone', 'unknown_path event.identity.phone'],
    ['event.processing.state', 'unknown_path event.properties.processing.state'],
    ['event.properties.amuont', 'unknown_property event.properties.amount'],
    ['properties.amuont', 'unknown_property event.properties.amount'],
    ['properties.item.0.sku', 'unknown_property event.properties.items.0.sku'],
    ['properties.qqqqq', 'unknown_property'],
  ])('where it reads %s', (path, expected) => {
    expect(aboutVar(path)).toEqual([expected]);
  });

  it('also where it asks whether something is missing, and not twice', () => {
    const warnings = warningsOf({ when: { missing: ['event.source', 'amount'] } });
    expect(warnings.map(({ path, code }) => `${path} ${code}`)).toEqual(['when.missing[1] unknown_path']);
  });

  it.each<[object]>([
    [{ '==': [1, 2] }],
    [{ '!': [true] }],
    [{ and: [{ '>': [1, 0] }, ''] }],
    [{ some: [[1, 2], { '==': [{ var: '' }, 3] }] }],
    [{ '/': [1, 0] }],
  ])('that is never met, whatever the event is: %j', (when) => {
    expect(warningsOf({ when })).toEqual([expect.objectContaining({ path: 'when', code: 'never_met' })]);
  });
});

it.each<[unknown]>([
  ...[['event'], ['event.source'], ['source'], ['event.properties.amount'], ['properties.amount'], ['properties']],
  ...[['event.identity.email'], ['identity.value'], ['event.properties.items.0.sku'], ['']],
] as [unknown][])('a condition that reads %j is fine', (path) => {
  expect(aboutVar(path)).toEqual([]);
});

it.each<[string, object]>([
  ['an entry of a list', { some: [{ var: 'event.properties.items' }, { '==': [{ var: 'sku' }, 'A'] }] }],
  ['a constant that is met', { '==': [1, 1] }],
  ['a path that is worked out', { missing: [{ cat: ['a', 'b'] }] }],
])('says nothing of %s', (_what, when) => {
  expect(warningsOf({ when })).toEqual([]);
});

it('says nothing of properties where the type takes any, is unregistered, or was only received', () => {
  for (const facts of [OPEN, RECEIVED]) {
    expect(aboutVar('event.properties.amuont', facts)).toEqual([]);
    expect(warningsOf({ valueFrom: 'event.properties.amuont' }, facts)).toEqual([]);
  }
});

it('warns about valueFrom in either spelling, and suggests the one that is usual there', () => {
  for (const valueFrom of ['properties.amuont', 'event.properties.amuont']) {
    expect(warningsOf({ valueFrom })).toEqual([
      {
        path: 'ops[0].valueFrom',
        code: 'unknown_property',
        message: expect.stringMatching(/^ops\[0\]\.valueFrom .*version 3 .* Did you mean properties\.amount\?$/),
      },
    ]);
  }
  expect(warningsOf({ valueFrom: 'identity.emial' })[0]?.message).toMatch(/Did you mean identity\.email\?$/);
});

it('warns about a type that is neither registered nor received, with the nearest name', () => {
  const facts: EventTypeFacts = { registered: undefined, wasReceived: false, names: ['visit', 'purchase'] };
  expect(warningsOf({ eventType: 'purchse' }, facts)).toEqual([
    { path: 'eventType', code: 'unknown_event_type', message: expect.stringMatching(/Did you mean purchase\?$/) },
  ]);
  expect(warningsOf({ eventType: 'purchse' }, RECEIVED)).toEqual([]);
});

it('has no more warnings than anybody reads, and shows no contact data', () => {
  const when = { or: Array.from({ length: 60 }, () => ({ var: 'jane@example.com' })) };
  const warnings = warningsOf({ when });
  expect(warnings).toHaveLength(REACTION_WARNINGS_MAX);
  expect(JSON.stringify(warnings)).not.toContain('jane@');
});
