import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('mutation_outcomes')
export class MutationOutcome {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  subject!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  campaignId!: string;

  /** Who made the id, and the id (`mutationKey`). */
  @PrimaryColumn('text', { name: 'mutation_key', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  mutationKey!: string;

  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  createdAt!: Date;

  /** Tells a repetition from another mutation under the same id. */
  @Column('bytea')
  fingerprint!: Buffer;

  @Column('json')
  mutations!: readonly { path: string; previous: unknown; current: unknown }[];

  /** The work that was applied: how a later attempt at it recognises what an earlier one has committed. */
  @Column('uuid', { name: 'work_id' })
  workId!: string;
}
