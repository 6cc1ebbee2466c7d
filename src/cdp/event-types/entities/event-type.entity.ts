import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('event_types')
@Index('event_types_created_idx', ['tenantId', 'createdAt', 'eventType'], { where: "created_at > '-infinity'" })
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
