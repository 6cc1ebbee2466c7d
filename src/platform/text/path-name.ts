/** Names in paths: a campaign, an event type, a reaction (contract section 1). */
export const PATH_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
