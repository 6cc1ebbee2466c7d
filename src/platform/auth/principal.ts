import type { Scope } from './scopes';

/** Who is calling, once a credential has been verified. */
export interface Principal {
  /** The workspace: first argument of whatever reads or writes. */
  readonly tenantId: string;
  readonly credentialId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Sources whose events it may send; null for all. */
  readonly sources: ReadonlySet<string> | null;
  /** Epoch milliseconds from which it is no longer taken; null for never. */
  readonly expiresAt: number | null;
}
