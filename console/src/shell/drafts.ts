import { useState } from 'react';
import { ownerOf, type Session } from '../api/session';

/** A session ends after half an hour without use. Its user, who comes back soon, goes on where they were. */
const KEPT_MS = 30 * 60_000;
const DRAFTS_MAX = 20;

const drafts = new Map<string, unknown>();
let owner = '';
let timer: ReturnType<typeof setTimeout> | undefined;

/** Drafts of others are gone when somebody signs in. */
export function openDrafts(session: Session): void {
  clearTimeout(timer);
  if (ownerOf(session) !== owner) drafts.clear();
  owner = ownerOf(session);
}

/** After the session nobody sees drafts; after a while they are gone. */
export function closeDrafts(): void {
  clearTimeout(timer);
  timer = setTimeout(() => drafts.clear(), KEPT_MS);
}

/**
 * What somebody was writing when their session ended, or when they left the page. It is in the memory of the page only.
 */
export function draftOf(what: string): unknown {
  return drafts.get(what);
}

export function keepDraft(what: string, draft: unknown): void {
  drafts.delete(what);
  drafts.set(what, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > DRAFTS_MAX && oldest !== undefined) drafts.delete(oldest);
}

export function forgetDraft(what: string): void {
  drafts.delete(what);
}

/**
 * The state of a text that is kept as the draft `name`; `forget` when it was sent. What it was opened as it stays: a name may
 * tell what the text is a change of, and that may have changed since.
 */
export function useDraft(name: string, original: string) {
  const [what] = useState(name);
  const [text, setText] = useState(() => {
    const draft = draftOf(what);
    return typeof draft === 'string' ? draft : original;
  });
  const write = (changed: string): void => {
    setText(changed);
    keepDraft(what, changed);
  };
  return { text, write, forget: () => forgetDraft(what) };
}
