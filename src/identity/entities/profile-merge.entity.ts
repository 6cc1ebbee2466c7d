import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * The log of merges. The evidence profiles of merges that are not undone are the edges of a forest; its trees are the
 * customers (docs/adr/0024). An undone merge keeps its two sides separated (docs/adr/0046).
 */
@Entity('profile_merges')
@Index('profile_merges_undone_idx', ['tenantId', 'fromEvidenceId'], { where: 'undone_at IS NOT NULL' })
@Index('profile_merges_from_idx', ['tenantId', 'fromEvidenceId'], { where: "merged_at > '-infinity'" })
@Index('profile_merges_into_idx', ['tenantId', 'intoEvidenceId'], { where: "merged_at > '-infinity'" })
export class ProfileMerge {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'profile_merges_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'profile_merges_pkey' })
  id!: string;

  /** The root that lost, at the time of the merge. */
  @Column('uuid', { name: 'from_profile_id' })
  fromProfileId!: string;

  /** The root that won, at the time of the merge. */
  @Column('uuid', { name: 'into_profile_id' })
  intoProfileId!: string;

  /** The profile that owns the loser's identifier that the event named. */
  @Column('uuid', { name: 'from_evidence_id' })
  fromEvidenceId!: string;

  /** The profile that owns the winner's identifier that the event named. */
  @Column('uuid', { name: 'into_evidence_id' })
  intoEvidenceId!: string;

  @Column('uuid', { name: 'event_id' })
  eventId!: string;

  @Column('timestamptz', { name: 'merged_at' })
  mergedAt!: Date;

  @Column('timestamptz', { name: 'undone_at', nullable: true })
  undoneAt!: Date | null;
}
