import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Whoever has this identifier was erased; its hash under SECRETS_KEY is all that is left of it. */
@Entity('erased_identifiers')
@Index('erased_identifiers_profile_idx', ['tenantId', 'profileId'], { where: "erased_at > '-infinity'" })
export class ErasedIdentifier {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'erased_identifiers_pkey' })
  tenantId!: string;

  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'erased_identifiers_pkey' })
  hash!: Buffer;

  /** The root of the customer: an erasure is lifted for all identifiers of the person. */
  @Column('uuid', { name: 'profile_id' })
  profileId!: string;

  @Column('timestamptz', { name: 'erased_at' })
  erasedAt!: Date;
}
