import { Injectable } from '@nestjs/common';
import { compareText, CrossWorkspaceReads } from '../../platform/postgres/distribution/cross-workspace-reads';
import type { PipelinedConnection, Transaction } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import { FIND_CHANGED_WORKSPACES, LOCK_CHANGES, TAKE_CHANGES } from '../change.sql';
import { ENDPOINTS_PER_WORKSPACE_MAX } from '../domain/webhook';
import { ADD_CHANGES } from './delivery.sql';
import { DeliverySignal } from './delivery-signal';
import type { WorkspaceTransactions } from './workspace-transactions';

/** Of one poll; the next one goes on after them. */
const WORKSPACES_PER_POLL = 20;
/** Of one transaction. */
const CHANGES_AT_ONCE = 100;
/** The same. A tenth of a second: claims and results of all workspaces wait for it, and a statement has five seconds. */
const DELIVERIES_AT_ONCE = 10 * ENDPOINTS_PER_WORKSPACE_MAX;

interface TakenChange {
  readonly id: string;
  readonly queueId: string;
  /** Separated by commas. */
  readonly endpointIds: string;
  readonly micros: string;
  readonly position: number;
}

/**
 * Adds the deliveries of stored changes to their queues (docs/adr/0075). One process at a time does so for a workspace,
 * in the order of the moments of the changes: who sees a change of a value sees the earlier ones, too, because both have
 * locked the row of the value.
 */
@Injectable()
export class ChangeRelay {
  constructor(
    private readonly signal: DeliverySignal,
    private readonly crossWorkspace: CrossWorkspaceReads,
  ) {}

  /**
   * Adds some. Returns the workspace to go on after, and whether there may be more. What fails in one workspace is tried
   * again by a later call; a lost database is thrown.
   */
  async run(
    connection: Pick<PipelinedConnection, 'query'>,
    transactions: WorkspaceTransactions,
    after: string,
  ): Promise<{ readonly after: string; readonly isMore: boolean }> {
    const found = await this.crossWorkspace.first<{ tenantId: string }>((...query) => connection.query(...query), {
      statement: FIND_CHANGED_WORKSPACES,
      values: [after, WORKSPACES_PER_POLL],
      most: WORKSPACES_PER_POLL,
      compare: (a, b) => compareText(a.tenantId, b.tenantId),
    });
    const isFull = found.length === WORKSPACES_PER_POLL;
    let isMore = isFull;
    let last: string | undefined;
    await transactions.run({
      items: found.map(({ tenantId }) => tenantId),
      tenantOf: (tenantId) => tenantId,
      isApart: true,
      run: (transaction, [tenantId = '']) => {
        last = tenantId;
        return this.relay(transaction, tenantId);
      },
      done: (hasMore) => (isMore ||= hasMore),
      left: () => undefined,
    });
    const end = found.at(-1)?.tenantId;
    // For those behind it there was no time, or they rest: the next call begins with them.
    if (last !== undefined && last !== end) return { after: last, isMore };
    return { after: isFull ? (end ?? NIL_UUID) : NIL_UUID, isMore };
  }

  /** Returns whether there may be more; not while another process does the same. */
  private async relay(transaction: Transaction, tenantId: string): Promise<boolean> {
    const locked = await transaction.send(LOCK_CHANGES, [tenantId]);
    if (locked.length === 0) return false;
    const taken = await transaction.send<TakenChange>(TAKE_CHANGES, [tenantId, CHANGES_AT_ONCE, DELIVERIES_AT_ONCE]);
    const added = taken
      .toSorted(inOrder)
      .flatMap(({ id, queueId, endpointIds }) =>
        endpointIds.split(',').map((endpointId) => ({ id, queueId, endpointId })),
      );
    if (added.length === 0) return false;
    await transaction.send(ADD_CHANGES, [
      added.map(() => tenantId),
      added.map(({ endpointId }) => endpointId),
      added.map(({ queueId }) => queueId),
      added.map(({ id }) => id),
    ]);
    const endpoints = added.map(({ endpointId }) => ({ tenantId, endpointId }));
    transaction.afterCommit(() => this.signal.announce(endpoints));
    return taken.length === CHANGES_AT_ONCE || added.length > DELIVERIES_AT_ONCE - ENDPOINTS_PER_WORKSPACE_MAX;
  }
}

function inOrder(a: TakenChange, b: TakenChange): number {
  return Number(BigInt(a.micros) - BigInt(b.micros)) || a.position - b.position || (a.id < b.id ? -1 : 1);
}
