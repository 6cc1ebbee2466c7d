import { useLayoutEffect, useRef, type RefObject } from 'react';

interface ScrolledEntry {
  /** In pixels, by the names of the elements. */
  readonly scrollTops?: Readonly<Record<string, number>>;
}

/**
 * For an element that scrolls by itself. Its position is kept in the entry of the browser's history, as the browser does it for
 * the page: going back leads to the same rows. `name`: unique among those of a page.
 */
export function useKeptScroll<E extends HTMLElement>(name: string): RefObject<E | null> {
  const scrolled = useRef<E>(null);
  useLayoutEffect(() => {
    const element = scrolled.current;
    if (element === null) return;
    element.scrollTop = scrollTops()[name] ?? 0;
    const keep = (): void => {
      const entry: ScrolledEntry = { scrollTops: { ...scrollTops(), [name]: element.scrollTop } };
      history.replaceState({ ...(history.state as object | null), ...entry }, '');
    };
    // Not at each step of the way: browsers refuse many changes of the history in a short time.
    element.addEventListener('scrollend', keep);
    return () => element.removeEventListener('scrollend', keep);
  }, [name]);
  return scrolled;
}

function scrollTops(): Readonly<Record<string, number>> {
  return (history.state as ScrolledEntry | null)?.scrollTops ?? {};
}
