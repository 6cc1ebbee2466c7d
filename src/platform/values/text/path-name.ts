/** Names of campaigns, apps, event types, reactions and workspaces (contract section 1, names in paths). */
export const PATH_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/** What such a name is, in words. */
export const PATH_NAME_FORM =
  'is 1 to 128 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit';
