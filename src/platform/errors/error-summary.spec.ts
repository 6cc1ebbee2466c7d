import { describeSummary, summariseError } from './error-summary';

describe('summariseError', () => {
  it('says what was thrown and where, without a word of the message', () => {
    const error = Object.assign(new TypeError('jane@example.com\n    at the bank (secret:1:1)'), { code: 'E_ODD' });
    const text = JSON.stringify(summariseError(error));
    expect(text).toContain('TypeError');
    expect(text).toContain('E_ODD');
    expect(text).toContain('error-summary.spec');
    expect(text).not.toContain('jane');
    expect(text).not.toContain('secret');
  });

  it('follows causes, and ends where they go in a circle', () => {
    const error = new Error('outer', { cause: new RangeError('inner') });
    expect(describeSummary(summariseError(error)).line).toBe('Error, caused by RangeError');
    const circle = new Error('round');
    circle.cause = circle;
    expect(describeSummary(summariseError(circle)).line).toBe(
      'Error, caused by Error, caused by Error, caused by Error',
    );
  });

  it.each([
    ['text', 'thrown string'],
    [undefined, 'thrown undefined'],
    [null, 'thrown null'],
    [{}, 'thrown object'],
  ])('takes %j, which is no error, without showing it', (thrown, line) => {
    expect(describeSummary(summariseError(thrown)).line).toBe(line);
  });

  it('leaves out a code that could be a value', () => {
    const error = Object.assign(new Error('x'), { code: 'jane@example.com' });
    expect(summariseError(error).code).toBeUndefined();
  });
});
