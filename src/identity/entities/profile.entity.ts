import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A profile. A customer is the set of profiles with one root; the root's row holds the values of the customer. */
@Entity('profiles')
@Index('profiles_members_idx', ['tenantId', 'rootId'], { where: 'root_id <> profile_id' })
export class Profile {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'profiles_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'profile_id', primaryKeyConstraintName: 'profiles_pkey' })
  profileId!: string;

  /** A profile that is its own root; never a chain. */
  @Column('uuid', { name: 'root_id' })
  rootId!: string;

  /** On a root: the customer's EXTERNAL identifier. */
  @Column('text', { name: 'external_id', nullable: true })
  externalId!: string | null;

  @Column('integer', { name: 'email_count' })
  emailCount!: number;

  @Column('integer', { name: 'phone_count' })
  phoneCount!: number;

  @Column('integer', { name: 'device_count' })
  deviceCount!: number;

  /** Grows with every change of the customer. */
  @Column('integer')
  version!: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt!: Date | null;
}
