import { Entity, Index, PrimaryColumn } from 'typeorm';
import type { IdentifierKind } from '../domain/identifier';

/**
 * An identifier that a stored event names and that is not its customer's: it belongs to another customer, or to nobody
 * yet. The erasure of its owner finds the event by it.
 */
@Entity('unlinked_identifiers')
@Index('unlinked_identifiers_event_idx', ['tenantId', 'eventId'], { where: "kind <> ''" })
export class UnlinkedIdentifier {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'unlinked_identifiers_pkey' })
  tenantId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'unlinked_identifiers_pkey' })
  kind!: IdentifierKind;

  /** Normalised. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'unlinked_identifiers_pkey' })
  value!: string;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'unlinked_identifiers_pkey' })
  eventId!: string;
}
