import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Entries that a bulk replay has not sent yet. The row is deleted once their results are counted. */
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
