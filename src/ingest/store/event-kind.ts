/** A type of events of a workspace. */
export interface EventKind {
  readonly tenantId: string;
  readonly eventType: string;
}

/** One text for one kind: a workspace is a UUID, so that no two share a name. */
export function kindName({ tenantId, eventType }: EventKind): string {
  return `${tenantId}/${eventType}`;
}

/** Each kind once. */
export function distinctKinds(kinds: readonly EventKind[]): EventKind[] {
  return [...new Map(kinds.map((kind) => [kindName(kind), kind])).values()];
}
