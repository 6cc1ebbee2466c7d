import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('shared_values')
export class SharedValue {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'shared_values_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'shared_values_pkey' })
  scope!: 'campaign' | 'app';

  /** The campaign or the app. */
  @PrimaryColumn('text', { name: 'owner_id', primaryKeyConstraintName: 'shared_values_pkey' })
  ownerId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'shared_values_pkey' })
  name!: string;

  /** Null before the first write. */
  @Column('jsonb', { nullable: true })
  value!: number | string | boolean | null;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
