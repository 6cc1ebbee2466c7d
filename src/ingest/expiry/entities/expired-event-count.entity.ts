import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many events of a profile have expired. */
@Entity('expired_event_counts')
export class ExpiredEventCount {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'expired_event_counts_pkey' })
  tenantId!: string;

  /** The own profile of the events, so that a merge or its undo changes nothing. */
  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'expired_event_counts_pkey' })
  profileId!: string;

  @Column('integer')
  events!: number;
}
