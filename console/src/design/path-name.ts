/** What the API takes as the name of something that an address names, as the `pattern` of a field. */
export const NAME_PATTERN = '[A-Za-z0-9][A-Za-z0-9_.\\-]{0,127}';

const NAME = new RegExp(`^${NAME_PATTERN}$`, 'v');

/** Whether the API takes `name` as the name of an event type, or of anything else that an address names. */
export const isName = (name: string): boolean => NAME.test(name);
