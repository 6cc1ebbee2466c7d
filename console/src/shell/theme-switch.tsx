import { Button } from '../design/button';
import { THEMES, useTheme, type Theme } from './theme';

const LABELS: Readonly<Record<Theme, string>> = { system: 'Auto', light: 'Light', dark: 'Dark' };

/** Goes round: the system's theme, light, dark. */
export function ThemeSwitch() {
  const [theme, choose] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  return (
    <Button kind="quiet" title={`Theme. Click for: ${LABELS[next]}`} onClick={() => choose(next)}>
      <span className="visually-hidden">Theme: </span>
      {LABELS[theme]}
    </Button>
  );
}
