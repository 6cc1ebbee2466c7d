import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Condition } from '../domain/condition';
import type { ReactionOperation } from '../domain/reaction';

@Entity('reactions')
@Index('reactions_event_type_idx', ['tenantId', 'eventType', 'id'], { where: "created_at > '-infinity'" })
export class Reaction {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'reactions_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'campaign_id', primaryKeyConstraintName: 'reactions_pkey' })
  campaignId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'reactions_pkey' })
  name!: string;

  /** Stays the same from the first definition until it is deleted; sorts by the time of that definition. */
  @Column('uuid')
  id!: string;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('text', { nullable: true })
  source!: string | null;

  /** As it was sent; json keeps its text. */
  @Column('json', { nullable: true })
  condition!: Condition | null;

  @Column('json')
  operations!: readonly ReactionOperation[];

  @Column('boolean')
  enabled!: boolean;

  /** Events received earlier are ignored. */
  @Column('timestamptz', { name: 'applies_from' })
  appliesFrom!: Date;

  /** The running backfill to which later `set` operations are reported; null: none. */
  @Column('uuid', { name: 'backfill_id', nullable: true })
  backfillId!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
