import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A random key of this installation; no answer of the API shows it. */
@Entity('installation_keys')
export class InstallationKey {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'installation_keys_pkey' })
  purpose!: string;

  @Column('bytea')
  key!: Buffer;
}
