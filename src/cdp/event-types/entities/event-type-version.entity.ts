import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventTypeDefinition } from '../domain/event-type-definition';

/** One version of an event type. Immutable: events name the version that they were checked against. */
@Entity('event_type_versions')
export class EventTypeVersion {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_type_versions_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'event_type', primaryKeyConstraintName: 'event_type_versions_pkey' })
  eventType!: string;

  @PrimaryColumn('integer', { primaryKeyConstraintName: 'event_type_versions_pkey' })
  version!: number;

  /** json instead of jsonb, which would not keep the order of the properties. */
  @Column('json')
  definition!: EventTypeDefinition;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('text', { name: 'created_by' })
  createdBy!: string;

  /** The names of the properties with `pii: true`; null in rows of older versions of the service. */
  @Column('text', { name: 'personal_properties', array: true, nullable: true })
  personalProperties!: string[] | null;
}
