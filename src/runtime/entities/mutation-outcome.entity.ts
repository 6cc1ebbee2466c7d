import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('mutation_outcomes')
export class MutationOutcome {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  subject!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  campaignId!: string;

  /** The origin of the id, and the id (`mutationKey`). */
  @PrimaryColumn('text', { name: 'mutation_key', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  mutationKey!: string;

  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'mutation_outcomes_pkey' })
  createdAt!: Date;

  /** Tells a repetition from another mutation under the same id. */
  @Column('bytea')
  fingerprint!: Buffer;

  @Column('json')
  mutations!: readonly { path: string; previous: unknown; current: unknown }[];

  /** The request that was applied: a later attempt recognises by it what an earlier attempt committed. */
  @Column('uuid', { name: 'work_id' })
  workId!: string;
}
