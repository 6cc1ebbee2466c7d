import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('event_types')
export class EventType {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_types_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'event_type', primaryKeyConstraintName: 'event_types_pkey' })
  eventType!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'deprecated_at', nullable: true })
  deprecatedAt!: Date | null;
}
