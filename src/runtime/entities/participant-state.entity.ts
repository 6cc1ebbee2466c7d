import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { VariableValue } from '../../variables/domain/variable';

/**
 * A UUIDv7 made by PostgreSQL, for older versions of the service that do not write the column. Without casts, as
 * TypeORM reads it.
 */
const ID_OF_OLDER_VERSIONS =
  "(((lpad(to_hex(((date_part('epoch', clock_timestamp()) * (1000)))), 12, '0') || '7') " +
  "|| substr(replace((gen_random_uuid()), '-', ''), 14)))";

@Entity('participant_states')
@Index('participant_states_campaign_idx', ['tenantId', 'campaignId', 'id'], { where: "subject <> ''" })
export class ParticipantState {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'participant_states_pkey' })
  tenantId!: string;

  /** The `sub` of the participant's tokens, which is the EXTERNAL identifier of the customer. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'participant_states_pkey' })
  subject!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'participant_states_pkey' })
  campaignId!: string;

  /** By variable name; includes values of archived variables. */
  @Column('jsonb')
  values!: Record<string, VariableValue>;

  /** By name of a value that belongs to a period: its beginning in epoch milliseconds. Null: there is none. */
  @Column('jsonb', { nullable: true })
  periods!: Record<string, number> | null;

  /** Fields that the service sets, such as `sessionId`. */
  @Column('jsonb')
  system!: Record<string, string>;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /** UUIDv7 of the insert; the order in which the participants of a campaign are listed. */
  @Column('uuid', { default: () => ID_OF_OLDER_VERSIONS })
  id!: string;
}
