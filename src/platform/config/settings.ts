import type { readSettings } from './env';

/** All settings, by their names in code (`env.ts`). */
export type Settings = ReturnType<typeof readSettings>;

/** Injection token of the parsed settings. */
export const SETTINGS_TOKEN = Symbol('settings');
