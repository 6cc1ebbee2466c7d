import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { IdentifierKind } from '../domain/identifier';

/** An identifier and the profile that owns it. The owner never changes: merges and undos change roots only. */
@Entity('profile_identifiers')
@Index('profile_identifiers_profile_idx', ['tenantId', 'profileId'], { where: "kind <> ''" })
export class ProfileIdentifier {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'profile_identifiers_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'profile_identifiers_pkey' })
  kind!: IdentifierKind;

  /** Normalised. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'profile_identifiers_pkey' })
  value!: string;

  @Column('uuid', { name: 'profile_id' })
  profileId!: string;
}
