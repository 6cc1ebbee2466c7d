import type { Statement } from '../postgres/statement';

/** Records of a feature that are of no use without the key they were written under. */
export interface KeyedRecords {
  /** What is lost with the key, after a number: "shared secrets of issuers, which …". */
  readonly loss: string;
  /** How many there are: one row with `count`. */
  readonly count: Statement;
  /** The newest of them with what was sealed: `tenant_id`, `id`, `sealed`. Hashes have none: they cannot be tried. */
  readonly sample?: Statement;
}
