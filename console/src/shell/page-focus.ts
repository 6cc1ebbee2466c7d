import { useEffect, useRef } from 'react';

/** A link that leads to another page goes away with its own page, and the focus with it: it goes on at the new page. */
export function useFocusOnPage(location: string): void {
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    focusPage();
  }, [location]);
}

/**
 * What has the focus may go away with what was done: a revoked key cannot be revoked again. A keyboard would begin at the top
 * of the document then; it goes on at the page.
 */
export function useFocusKept(): void {
  useEffect(() => {
    let focused: EventTarget | null = null;
    const note = ({ target }: FocusEvent): void => {
      focused = target;
    };
    const restore = (): void => {
      if (document.activeElement === document.body && document.querySelector(OPEN_DIALOG) === null) focusPage();
    };
    const removals = new MutationObserver(() => {
      if (!(focused instanceof Element) || focused.isConnected) return;
      focused = null;
      // A dialog that has closed gives the focus back first.
      setTimeout(restore);
    });
    document.addEventListener('focusin', note);
    removals.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', note);
      removals.disconnect();
    };
  }, []);
}

/** It keeps the focus itself. Messages are dialogs, too, beside which one goes on. */
export const OPEN_DIALOG = '[role="dialog"]:not([aria-modal="false"])';

function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** The page has a base address, so that the link alone would leave it. */
export function skipToPage(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
