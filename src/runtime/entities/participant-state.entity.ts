import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('participant_states')
export class ParticipantState {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'participant_states_pkey' })
  tenantId!: string;

  /** The `sub` of the participant's tokens, which is the EXTERNAL identifier of the customer. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'participant_states_pkey' })
  subject!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'participant_states_pkey' })
  campaignId!: string;

  /** By variable name; also those of archived declarations. */
  @Column('jsonb')
  values!: Record<string, number | string | boolean>;

  /** Fields that the service keeps itself, such as `sessionId`. */
  @Column('jsonb')
  system!: Record<string, string>;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
