import fc from 'fast-check';
import { parseVariablePath, VARIABLE_NAME, VARIABLE_SCOPES } from './variable';

describe('parseVariablePath', () => {
  it('reads the path of every scope and every name', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VARIABLE_SCOPES), fc.stringMatching(VARIABLE_NAME), (scope, name) => {
        expect(parseVariablePath(`state.${scope}.${name}`)).toEqual({ scope, name });
      }),
    );
  });

  it.each([
    ...['', 'state', 'state.', 'state.user', 'state.user.', 'state.sessionId', 'state.system.sessionId', 'user.points'],
    ...['State.user.points', 'state.User.points', 'state.users.points', 'state.__proto__.points', '.user.points'],
    ...[
      'state.user.points.more',
      'state.user.points.',
      'state..user.points',
      ' state.user.points',
      'state.user. points',
    ],
    ...['state.user.1a', 'state.user._a', 'state.user.a-b', 'state.user.é', 'state.user.a\n', 'state.user.__proto__'],
    ...['state/user/points', 'state[user][points]', `state.user.${'x'.repeat(101)}`, 'state.constructor.name'],
  ])('reads nothing from %j', (path) => {
    expect(parseVariablePath(path)).toBeUndefined();
  });

  it('never throws, whatever it is given, and what it reads leads back to the path', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((end) => `state.user.${end}`),
        ),
        (path) => {
          const parsed = parseVariablePath(path);
          if (parsed !== undefined) expect(`state.${parsed.scope}.${parsed.name}`).toBe(path);
        },
      ),
    );
  });
});
