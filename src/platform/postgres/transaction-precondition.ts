import type { EntityManager } from 'typeorm';

/**
 * Checks, in a transaction that has taken its locks and has written nothing yet, that what it is going to change is still
 * as its caller saw it. Throws if it is not; the transaction then changes nothing.
 */
export type TransactionPrecondition = (manager: EntityManager) => Promise<void>;
