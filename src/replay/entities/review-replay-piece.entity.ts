import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Entries that a bulk replay has still to send; the row is gone once what became of them is counted. */
@Entity('review_replay_pieces')
export class ReviewReplayPiece {
  @PrimaryColumn('uuid', { name: 'tenant_id', primaryKeyConstraintName: 'review_replay_pieces_pkey' })
  tenantId!: string;

  @PrimaryColumn('uuid', { name: 'replay_id', primaryKeyConstraintName: 'review_replay_pieces_pkey' })
  replayId!: string;

  @PrimaryColumn('integer', { primaryKeyConstraintName: 'review_replay_pieces_pkey' })
  position!: number;

  @Column('uuid', { name: 'entry_ids', array: true })
  entryIds!: string[];
}
