/** What can be done to a key; each leaves a line in its audit (contract section 2). */
export const API_KEY_ACTIONS = ['created', 'rotated', 'revoked'] as const;
export type ApiKeyAction = (typeof API_KEY_ACTIONS)[number];
