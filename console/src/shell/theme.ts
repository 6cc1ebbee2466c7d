import { useSyncExternalStore } from 'react';

/** `system` follows the setting of the viewer's system. */
export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const STORED_AS = 'cds-console-theme';
const CHANGED = 'cds-theme-changed';

export function applyStoredTheme(): void {
  const theme = storedTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function storedTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(STORED_AS)) ?? 'system';
}

/** The chosen theme, and what chooses another. It is the only thing that the console stores in the browser. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, storedTheme);
  return [
    theme,
    (chosen) => {
      localStorage.setItem(STORED_AS, chosen);
      applyStoredTheme();
      window.dispatchEvent(new Event(CHANGED));
    },
  ];
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(CHANGED, listener);
  return () => window.removeEventListener(CHANGED, listener);
}
