import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An identifier of an erased person. Only its hash under SECRETS_KEY is stored. */
@Entity('erased_identifiers')
@Index('erased_identifiers_profile_idx', ['tenantId', 'profileId'], { where: "erased_at > '-infinity'" })
export class ErasedIdentifier {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'erased_identifiers_pkey' })
  tenantId!: string;

  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'erased_identifiers_pkey' })
  hash!: Buffer;

  /** The root of the customer: lifting an erasure applies to all identifiers of the person. */
  @Column('uuid', { name: 'profile_id' })
  profileId!: string;

  @Column('timestamptz', { name: 'erased_at' })
  erasedAt!: Date;
}
