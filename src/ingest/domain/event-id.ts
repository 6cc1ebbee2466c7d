import { nameId } from '../../platform/values/ids';

/**
 * The id of an event, made from what deduplicates it (contract section 3): the same (workspace, source, external id) is
 * the same UUID on every node, so the primary key of the event log is the deduplication.
 */
export function eventIdOf(tenantId: string, source: string, externalEventId: string): string {
  return nameId([tenantId, source, externalEventId]);
}
