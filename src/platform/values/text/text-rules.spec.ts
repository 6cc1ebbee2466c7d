import { hasMoreCharacters } from './text-rules';

describe('the characters of a text', () => {
  it.each([
    ['', 0, false],
    ['abc', 3, false],
    ['abcd', 3, true],
    ['👍👍👍', 3, false],
    ['👍👍👍', 2, true],
    // Six units in four characters.
    ['👍👍ab', 4, false],
    ['👍👍ab', 3, true],
    ['a'.repeat(7), 3, true],
  ])('are code points: those of "%s" are more than %d: %s', (text, charactersMax, isMore) => {
    expect(hasMoreCharacters(text, charactersMax)).toBe(isMore);
  });
});
