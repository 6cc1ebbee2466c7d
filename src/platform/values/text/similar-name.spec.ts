import { similarName } from './similar-name';

const EXTERNAL = ['source', 'external_event_id', 'type', 'identity', 'occurred_at', 'attributes'];
const CDP = ['source', 'id', 'eventType', 'occurredAt', 'identity', 'properties'];

it.each([
  [EXTERNAL, 'externalEventId', 'external_event_id'],
  [EXTERNAL, 'eventId', 'external_event_id'],
  [EXTERNAL, 'id', 'external_event_id'],
  [EXTERNAL, 'eventType', 'type'],
  [EXTERNAL, 'occurredAt', 'occurred_at'],
  [EXTERNAL, 'properties', 'attributes'],
  [EXTERNAL, 'sorce', 'source'],
  [CDP, 'external_event_id', 'id'],
  [CDP, 'event_type', 'eventType'],
  [CDP, 'type', 'eventType'],
  [CDP, 'attributes', 'properties'],
  [['externalUserId', 'deviceKey'], 'device', 'deviceKey'],
  [CDP, 'amount', undefined],
  [CDP, 'x', undefined],
  [CDP, '', undefined],
  [CDP, 'source'.repeat(1_000), undefined],
])('of %j, %s is similar to %s', (known, name, similar) => {
  expect(similarName(name, known)).toBe(similar);
});
