import { cpuMsSince } from '../../../test/support/cpu-time';
import { parseIdentityReference } from '../../identity/domain/identity-reference';
import { textFields } from './event-fields';

const RULES = { placeholders: new Set<string>() };

it('an identity of megabytes is not normalised: its length is a fault of its shape', () => {
  const identity = { type: 'EMAIL', value: ' '.repeat(5_000_000), other: 1, missing: null };
  const startedAt = process.cpuUsage();
  expect(textFields(identity)).toEqual({ type: 'EMAIL' });
  expect(parseIdentityReference(textFields(identity), RULES)).toHaveProperty('faults');
  expect(cpuMsSince(startedAt)).toBeLessThan(50);
});
