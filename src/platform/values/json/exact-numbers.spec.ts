import { ExactNumbers } from './exact-numbers';

describe('ExactNumbers', () => {
  it.each([
    '{"a":12345678901234567890,"b":[-1e999,1e-400,-0.1234567890123456789,1,-2.5],"c":"12345678901234567890"}',
    '[9007199254740993]',
    '{"a":"-\\"x"}',
    '"text"',
  ])('writes what it reads: %s', (text) => {
    const numbers = new ExactNumbers();
    const value: unknown = JSON.parse(numbers.withMarks(text));
    expect(numbers.textOf(value)).toBe(text);
  });

  it('reads numbers that a double keeps as such', () => {
    expect(JSON.parse(new ExactNumbers().withMarks('[0.10,1.0,1e2,-3]'))).toEqual([0.1, 1, 100, -3]);
  });
});
