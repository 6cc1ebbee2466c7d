import { Injectable } from '@nestjs/common';
import type { Participant } from '../platform/auth/principal';
import { idPageStart } from '../platform/pagination/id-key';
import { VariablesService } from '../variables/variables.service';
import { findStateOwner, ownerOf, type NamedField, type StateOwner } from './domain/state-owner';
import {
  readBranch,
  stateTree,
  type StateBranch,
  type StateTree,
  type StoredValues,
  type SystemFields,
} from './domain/state-tree';
import { ParticipantReader } from './participant-reader';
import { StateReader } from './state-reader';

/** A participant in a list: the values of scope `user`, and the system fields. */
export interface ListedParticipant {
  readonly subject: string;
  readonly user: StateBranch;
  readonly system: SystemFields;
}

export interface ListedPage {
  readonly participants: readonly ListedParticipant[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

/** Reads the state of campaigns (contract section 8). */
@Injectable()
export class StateService {
  constructor(
    private readonly variables: VariablesService,
    private readonly reader: StateReader,
    private readonly participants: ParticipantReader,
  ) {}

  /**
   * The state that a participant sees; `campaigns`: those that the request names. Throws `context_violation`,
   * `campaign_required`.
   */
  async read(participant: Participant, campaigns: readonly NamedField[]): Promise<StateTree> {
    const owner = ownerOf(findStateOwner(participant, { campaigns, apps: [], users: [] }));
    return (await this.readFor(participant.tenantId, owner)).state;
  }

  /** The state of any participant with the system fields, for backends and operators. */
  async readFor(
    tenantId: string,
    owner: StateOwner,
  ): Promise<{ readonly state: StateTree; readonly system: SystemFields }> {
    const [declarations, { values, system }] = await Promise.all([
      this.variables.declarationsOf(tenantId, owner.campaignId),
      this.reader.read(tenantId, owner),
    ]);
    return { state: stateTree(declarations, values), system };
  }

  /**
   * One page of the participants of a campaign who have `user` values, the newest first. Throws `validation_failed` for
   * a malformed cursor.
   */
  async list(tenantId: string, campaignId: string, cursor: string | undefined, limit: number): Promise<ListedPage> {
    const before = idPageStart(cursor);
    const declarations = await this.variables.declarationsOf(tenantId, campaignId);
    const branchOf = (values: StoredValues): StateBranch => readBranch(declarations, 'user', values);
    const defaultsBytes = Buffer.byteLength(JSON.stringify(branchOf(new Map())));
    const page = await this.participants.list(tenantId, campaignId, before, { limit, defaultsBytes });
    const participants = page.participants.map(({ subject, values, system }) => {
      return { subject, user: branchOf(values), system };
    });
    return { participants, nextCursor: page.nextCursor };
  }
}
