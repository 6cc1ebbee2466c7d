export interface ProfileRow {
  readonly tenantId: string;
  readonly profileId: string;
  readonly rootId: string;
  readonly isErased: boolean;
}

export interface IdentifierRow {
  readonly tenantId: string;
  readonly kind: string;
  readonly profileId: string;
}

/** An event, as far as it tells of a person. */
export interface PersonalEventRow {
  readonly tenantId: string;
  readonly eventId: string;
  readonly profileId: string;
  readonly identity: object;
  readonly properties: object;
}

export interface CustomerRows {
  readonly profiles: readonly ProfileRow[];
  readonly identifiers: readonly IdentifierRow[];
  readonly events: readonly PersonalEventRow[];
  /** Whose participants have values in store. */
  readonly subjects: readonly { readonly tenantId: string; readonly subject: string }[];
}

/** Somebody whose erasure was confirmed, and who has changed nothing since. */
export interface ErasedPerson {
  readonly tenantId: string;
  readonly subject: string;
}

/** What is wrong with customers: more than one EXTERNAL identifier, chains of pointers, and what is left of erased ones. */
export function customerViolations(rows: CustomerRows, erased: readonly ErasedPerson[]): string[] {
  const profiles = new Map(rows.profiles.map((profile) => [keyOf(profile), profile]));
  return [
    ...rows.profiles.flatMap((profile) => rootViolations(profile, profiles)),
    ...externalViolations(rows.identifiers, profiles),
    ...remains(rows, profiles),
    ...valuesOfErased(rows, erased),
  ];
}

type Profiles = ReadonlyMap<string, ProfileRow>;

function keyOf({ tenantId, profileId }: { readonly tenantId: string; readonly profileId: string }): string {
  return `${tenantId} ${profileId}`;
}

function rootViolations(profile: ProfileRow, profiles: Profiles): string[] {
  const root = profiles.get(keyOf({ tenantId: profile.tenantId, profileId: profile.rootId }));
  if (root === undefined) return [`a pointer into nothing: ${profile.profileId}`];
  return root.rootId === root.profileId ? [] : [`a chain of pointers: ${profile.profileId}`];
}

function externalViolations(identifiers: readonly IdentifierRow[], profiles: Profiles): string[] {
  const customers = new Map<string, number>();
  for (const identifier of identifiers.filter(({ kind }) => kind === 'EXTERNAL')) {
    const root = `${identifier.tenantId} ${profiles.get(keyOf(identifier))?.rootId ?? ''}`;
    customers.set(root, (customers.get(root) ?? 0) + 1);
  }
  return [...customers]
    .filter(([, count]) => count > 1)
    .map(([root]) => `a customer with several EXTERNAL identifiers: ${root}`);
}

function remains({ identifiers, events }: CustomerRows, profiles: Profiles): string[] {
  const isErased = (row: { readonly tenantId: string; readonly profileId: string }): boolean =>
    profiles.get(keyOf(row))?.isErased === true;
  const isTelling = ({ identity, properties }: PersonalEventRow): boolean =>
    Object.keys(identity).length + Object.keys(properties).length > 0;
  return [
    ...identifiers.filter(isErased).map(({ profileId }) => `an identifier of an erased profile: ${profileId}`),
    ...events
      .filter((event) => isErased(event) && isTelling(event))
      .map(({ eventId }) => `an event that tells of an erased person: ${eventId}`),
  ];
}

function valuesOfErased({ subjects }: CustomerRows, erased: readonly ErasedPerson[]): string[] {
  const withValues = new Set(subjects.map(({ tenantId, subject }) => `${tenantId} ${subject}`));
  return erased
    .filter(({ tenantId, subject }) => withValues.has(`${tenantId} ${subject}`))
    .map(({ subject }) => `values of an erased person: ${subject}`);
}
