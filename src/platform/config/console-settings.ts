import { oneOf, setting } from './setting-parsers';

/** The settings of the web console (contract section 10). */
export const CONSOLE_SETTINGS = {
  console: setting('CONSOLE', 'Whether the web console is served at /console: on or off', oneOf(['on', 'off'], 'on')),
} as const;
