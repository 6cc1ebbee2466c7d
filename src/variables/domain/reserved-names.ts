/**
 * Contract section 8: names of system fields and of what objects inherit in JavaScript, compared letter for letter. No variable
 * can have one, and in a path they name what is the system's.
 */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...['sessionId', 'session_id', 'userId', 'user_id', 'campaignId', 'campaign_id', 'appId', 'app_id'],
  ...['version', 'createdAt', 'updatedAt'],
  ...['constructor', 'prototype', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'],
]);
