import type { Statement } from '../platform/postgres/statement';
import { textOfTime } from '../platform/postgres/time-text';
import { SEPARATIONS_MAX } from './domain/known-identities';

/**
 * The sides of undone merges that a profile was on. The log of merges names the evidence profiles; `undone_merge_sides` names the
 * others.
 */
function sidesOf(tenantId: string, profileId: string): string {
  return `(
      (SELECT id AS merge_id, 'from' AS side FROM profile_merges
       WHERE tenant_id = ${tenantId} AND from_evidence_id = ${profileId} AND undone_at IS NOT NULL
       LIMIT ${SEPARATIONS_MAX})
      UNION ALL
      (SELECT id, 'into' FROM profile_merges
       WHERE tenant_id = ${tenantId} AND into_evidence_id = ${profileId} AND merged_at > '-infinity'
         AND undone_at IS NOT NULL
       LIMIT ${SEPARATIONS_MAX})
      UNION ALL
      (SELECT merge_id, side FROM undone_merge_sides
       WHERE tenant_id = ${tenantId} AND profile_id = ${profileId}
       LIMIT ${SEPARATIONS_MAX})
    )`;
}

/** The sides of undone merges that profiles of these customers were on. */
export const READ_SEPARATIONS: Statement = {
  name: 'identity_read_separations',
  text: `
    SELECT u.tenant_id, u.root_id, s.merge_id, s.side
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, root_id)
    CROSS JOIN LATERAL (
      SELECT u.root_id AS profile_id
      UNION ALL
      SELECT profile_id FROM profiles
      WHERE tenant_id = u.tenant_id AND root_id = u.root_id AND root_id <> profile_id
    ) p
    CROSS JOIN LATERAL ${sidesOf('u.tenant_id', 'p.profile_id')} s`,
};

/** An undo writes its time before its COMMIT, which a disk may hold up; events are queued for the former root until then. */
const SECONDS_TO_COMMIT = 10;

/**
 * The profiles that undone merges have parted from each of these, with the time by which the undo was committed, as the queue
 * writes times. Most workspaces have undone nothing, and are asked nothing else.
 */
export const READ_PARTED: Statement = {
  name: 'identity_read_parted',
  text: `
    SELECT u.profile_id AS "profileId", o.profile_id AS "otherId",
      ${textOfTime(`m.undone_at + interval '${SECONDS_TO_COMMIT} seconds'`)} AS until
    FROM unnest($2::uuid[]) AS u (profile_id)
    CROSS JOIN LATERAL ${sidesOf('$1::uuid', 'u.profile_id')} s
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
