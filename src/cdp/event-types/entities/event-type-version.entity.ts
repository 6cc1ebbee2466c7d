import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventTypeDefinition } from '../domain/event-type-definition';

/** Immutable: events name the version they were checked against. */
@Entity('event_type_versions')
export class EventTypeVersion {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'event_type_versions_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { name: 'event_type', primaryKeyConstraintName: 'event_type_versions_pkey' })
  eventType!: string;

  @PrimaryColumn('integer', { primaryKeyConstraintName: 'event_type_versions_pkey' })
  version!: number;

  /** json and not jsonb: properties keep the order in which they were written. */
  @Column('json')
  definition!: EventTypeDefinition;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('text', { name: 'created_by' })
  createdBy!: string;

  /** The names of the properties that the definition declares `pii: true`; null: only the definition says so. */
  @Column('text', { name: 'personal_properties', array: true, nullable: true })
  personalProperties!: string[] | null;
}
