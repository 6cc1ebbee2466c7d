import type { Statement } from '../platform/postgres/statement';
import { SEPARATIONS_MAX } from './domain/known-identities';

/**
 * The profiles that undone merges have parted from each of these, with the time of the undo and a second more, as the queue writes
 * times. Most workspaces have undone nothing, and are asked nothing else.
 */
export const READ_PARTED: Statement = {
  name: 'identity_read_parted',
  text: `
    SELECT u.profile_id, o.profile_id AS other_id,
      to_char((m.undone_at + interval '1 second') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until
    FROM unnest($2::uuid[]) AS u (profile_id)
    CROSS JOIN LATERAL (
      (SELECT id AS merge_id, 'from' AS side FROM profile_merges
       WHERE tenant_id = $1::uuid AND from_evidence_id = u.profile_id AND undone_at IS NOT NULL
       LIMIT ${SEPARATIONS_MAX})
      UNION ALL
      (SELECT id, 'into' FROM profile_merges
       WHERE tenant_id = $1::uuid AND into_evidence_id = u.profile_id AND merged_at > '-infinity'
         AND undone_at IS NOT NULL
       LIMIT ${SEPARATIONS_MAX})
      UNION ALL
      (SELECT merge_id, side FROM undone_merge_sides
       WHERE tenant_id = $1::uuid AND profile_id = u.profile_id
       LIMIT ${SEPARATIONS_MAX})
    ) s
    CROSS JOIN LATERAL (
      SELECT from_evidence_id, into_evidence_id, undone_at FROM profile_merges
      WHERE tenant_id = $1::uuid AND id = s.merge_id LIMIT 1
    ) m
    CROSS JOIN LATERAL (
      SELECT CASE s.side WHEN 'from' THEN m.into_evidence_id ELSE m.from_evidence_id END AS profile_id
      UNION ALL
      (SELECT profile_id FROM undone_merge_sides
       WHERE tenant_id = $1::uuid AND merge_id = s.merge_id AND side <> '' AND side <> s.side
       LIMIT ${SEPARATIONS_MAX})
    ) o
    WHERE EXISTS (
      SELECT FROM profile_merges WHERE tenant_id = $1::uuid AND undone_at IS NOT NULL
    )`,
};
