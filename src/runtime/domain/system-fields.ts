/** Names that belong to the system in every branch of the state tree (contract section 8, reserved names). */
export const SYSTEM_FIELD_NAMES: ReadonlySet<string> = new Set([
  ...['sessionId', 'session_id', 'userId', 'user_id', 'campaignId', 'campaign_id', 'appId', 'app_id'],
  ...['version', 'createdAt', 'updatedAt'],
  ...['constructor', 'prototype', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'],
]);
