import { useState } from 'react';
import { ApiError } from '../api/api-error';
import { visibleText } from './visible-text';

/** What a record is defined by, field by field. */
type Definition = object;

/** Longer values are not repeated in a sentence. */
const VALUE_CHARACTERS_MAX = 80;

/**
 * The API replaces a definition with the next one, without asking. This keeps a form from replacing what its user has
 * not seen. `opened`: what the form begins with, under `name`; undefined for something new.
 *
 * The answer is called before a form is sent. It reads what has the name now (undefined: nothing), and throws what has changed
 * since the form was opened; of each change once, so that the form can be sent again.
 */
export function useOverwriteCheck(name: string, opened: Definition | undefined) {
  const [seen] = useState(() => new Map([[name, opened]]));
  return async (written: string, read: () => Promise<Definition | undefined>): Promise<void> => {
    const found = await read().catch((error: unknown) => {
      // Who may write and not read has seen nothing.
      if (error instanceof ApiError && error.errorCode === 'insufficient_scope') return seen.get(written);
      throw error;
    });
    const change = changeBetween(seen.get(written), found);
    seen.set(written, found);
    if (change !== undefined) throw new Error(change);
  };
}

/** What a read answers; undefined when there is no such record. */
export function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
}

function changeBetween(before: Definition | undefined, now: Definition | undefined): string | undefined {
  if (now === undefined) {
    if (before === undefined) return undefined;
    return 'It was removed since this form was opened. Send it again to define it anew.';
  }
  const changes = differencesOf(before ?? {}, now);
  if (changes === '') return undefined;
  return before === undefined
    ? `There is one of this name already: ${changes}. Send it again to replace that, or choose another name.`
    : `It was changed since this form was opened: ${changes}. Send it again to replace that, or cancel to keep it.`;
}

function differencesOf(before: Definition, now: Definition): string {
  const [old, current] = [
    new Map<string, unknown>(Object.entries(before)),
    new Map<string, unknown>(Object.entries(now)),
  ];
  const names = [...new Set([...old.keys(), ...current.keys()])];
  const changed = names.filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(current.get(name)));
  return changed.map((name) => `${name} is ${wordOf(current.get(name))}`).join(', ');
}

function wordOf(value: unknown): string {
  if (value === undefined || value === null) return 'not set';
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? 'another one' : visibleText(text);
}
