/*
 * Names that stand for a source or a type in the tables of statistics. Neither is one that a client can send: names of events
 * have a visible character.
 */

/** The source or type is not known: the body or the field could not be read. */
export const UNKNOWN_NAME = '';
/** Beyond the number of groups that a node counts apart; shown among the rest, as `other`. */
export const OTHER_NAME = ' ';
