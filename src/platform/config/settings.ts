export type { Settings } from './env';

/** Injection token of the parsed settings. */
export const SETTINGS_TOKEN = Symbol('settings');
