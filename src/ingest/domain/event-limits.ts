/** Contract section 3; characters are code points. Long enough for every id seen in the field, short enough for an index. */
export const SOURCE_CHARACTERS_MAX = 128;
export const EVENT_ID_CHARACTERS_MAX = 256;
export const EVENT_TYPE_CHARACTERS_MAX = 128;
/** Before normalisation; the normalised value has its own limit of 256. */
export const IDENTITY_CHARACTERS_MAX = 1_024;
/** An ISO 8601 time with nine decimals has 35. */
export const TIMESTAMP_CHARACTERS_MAX = 64;
