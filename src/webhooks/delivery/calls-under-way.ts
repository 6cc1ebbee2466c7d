import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Profiles, or other owners of queues, of one statement. */
const QUEUES_PER_STATEMENT = 200;
const POLL_MS = 50;

/**
 * The queues of $2 at the endpoints of a workspace. A queue that another transaction has locked may be claimed by it: of
 * the others the newest claim is read.
 */
const READ_CLAIMS = `
  WITH endpoints AS MATERIALIZED (
    SELECT id FROM webhook_endpoints WHERE tenant_id = $1
  ), open AS MATERIALIZED (
    SELECT endpoint_id, profile_id, claim_id, due_at FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id IN (SELECT id FROM endpoints) AND profile_id = ANY($2)
    FOR SHARE SKIP LOCKED
  )
  SELECT q.endpoint_id, q.profile_id, o.profile_id IS NULL AS is_locked,
    CASE WHEN o.due_at > clock_timestamp() THEN o.claim_id END AS claim_id
  FROM webhook_queues q
  LEFT JOIN open o ON o.endpoint_id = q.endpoint_id AND o.profile_id = q.profile_id
  WHERE q.tenant_id = $1 AND q.endpoint_id IN (SELECT id FROM endpoints) AND q.profile_id = ANY($2)`;

interface QueueClaim {
  readonly endpoint_id: string;
  readonly profile_id: string;
  readonly is_locked: boolean;
  /** Null: no call can be under way. */
  readonly claim_id: string | null;
}

/** The calls that dispatchers of all processes have under way. */
@Injectable()
export class CallsUnderWay {
  constructor(private readonly database: DataSource) {}

  /**
   * Resolves once every call has ended that was claimed from these queues before this begins: within an attempt, or
   * within the claim of a killed process (30 s). `goOn` throws when the process stops.
   */
  async waitForEnd(tenantId: string, queueIds: readonly string[], goOn: () => Promise<void>): Promise<void> {
    for (let from = 0; from < queueIds.length; from += QUEUES_PER_STATEMENT) {
      await this.waitForEndOf(tenantId, queueIds.slice(from, from + QUEUES_PER_STATEMENT), goOn);
    }
  }

  private async waitForEndOf(tenantId: string, queueIds: readonly string[], goOn: () => Promise<void>): Promise<void> {
    /** By queue, the claim that is waited for; undefined: not known yet. */
    let awaited: ReadonlyMap<string, string | undefined> | undefined;
    for (;;) {
      await goOn();
      const rows: QueueClaim[] = await this.database.query(READ_CLAIMS, [tenantId, queueIds]);
      awaited = stillAwaited(rows, awaited);
      if (awaited.size === 0) return;
      await pause(POLL_MS);
    }
  }
}

function stillAwaited(
  rows: readonly QueueClaim[],
  before: ReadonlyMap<string, string | undefined> | undefined,
): ReadonlyMap<string, string | undefined> {
  const awaited = new Map<string, string | undefined>();
  for (const { endpoint_id: endpointId, profile_id: queueId, is_locked: isLocked, claim_id: claimId } of rows) {
    const key = `${endpointId}/${queueId}`;
    if (before !== undefined && !before.has(key)) continue;
    const known = before?.get(key);
    if (isLocked) awaited.set(key, known);
    else if (claimId !== null && (known === undefined || known === claimId)) awaited.set(key, claimId);
  }
  return awaited;
}
