import type { ApiKey } from './create-key-form';
import type { ServiceCredential } from './credentials-tab';
import type { JwtIssuer } from './issuer-fields';

export const AUDIT_KINDS = ['API key', 'JWT issuer', 'Service credential'] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Something that happened to a record, as the record itself tells it. */
export interface AuditEntry {
  readonly kind: AuditKind;
  readonly id: string;
  readonly name: string;
  readonly href: string;
  readonly action: 'created' | 'created by rotation' | 'revoked' | 'rotated' | 'registered';
  readonly at: string;
  /** Undefined: the record does not say. */
  readonly by: string | undefined;
}

/** Newest first. */
export function auditEntries(
  keys: readonly ApiKey[],
  issuers: readonly JwtIssuer[],
  credentials: readonly ServiceCredential[],
): readonly AuditEntry[] {
  const entries = [...keys.flatMap(ofKey), ...issuers.map(ofIssuer), ...credentials.flatMap(ofCredential)];
  return entries.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

function ofKey({ id, name, createdAt, createdBy, revokedAt, rotatedFrom, rotatedTo }: ApiKey): AuditEntry[] {
  const subject = { kind: 'API key', id, name, href: `/access/keys/${id}` } as const;
  const action = rotatedFrom === null ? 'created' : 'created by rotation';
  const created: AuditEntry = { ...subject, action, at: createdAt, by: createdBy };
  if (revokedAt === null) return [created];
  return [created, { ...subject, action: rotatedTo === null ? 'revoked' : 'rotated', at: revokedAt, by: undefined }];
}

function ofIssuer({ id, issuer, createdAt, createdBy }: JwtIssuer): AuditEntry {
  const subject = { kind: 'JWT issuer', id, name: issuer, href: `/access/issuers/${id}` } as const;
  return { ...subject, action: 'registered', at: createdAt, by: createdBy };
}

function ofCredential({ id, name, createdAt, createdBy, revokedAt }: ServiceCredential): AuditEntry[] {
  const subject = { kind: 'Service credential', id, name, href: `/access/credentials/${id}` } as const;
  const created: AuditEntry = { ...subject, action: 'created', at: createdAt, by: createdBy };
  return revokedAt === null ? [created] : [created, { ...subject, action: 'revoked', at: revokedAt, by: undefined }];
}
