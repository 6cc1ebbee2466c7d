import { withClient } from './database';

/** What must be true of the customers of a workspace at any time, each as a query for what breaks it. */
const VIOLATIONS: Readonly<Record<string, string>> = {
  'a root that is no root itself': `
    SELECT 1 FROM profiles p JOIN profiles r ON r.tenant_id = p.tenant_id AND r.profile_id = p.root_id
    WHERE p.tenant_id = $1 AND r.root_id <> r.profile_id`,
  'a customer with two EXTERNAL identifiers': `
    SELECT 1 FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
    WHERE tenant_id = $1 AND i.kind = 'EXTERNAL' GROUP BY p.root_id HAVING count(*) > 1`,
  'counts that are not those of the identifiers': `
    WITH found AS (
      SELECT p.root_id, ROW(count(*) FILTER (WHERE i.kind = 'EMAIL'), count(*) FILTER (WHERE i.kind = 'PHONE'),
        count(*) FILTER (WHERE i.kind = 'DEVICE'), max(i.value) FILTER (WHERE i.kind = 'EXTERNAL'))::text AS counts
      FROM profiles p LEFT JOIN profile_identifiers i USING (tenant_id, profile_id)
      WHERE p.tenant_id = $1 GROUP BY p.root_id
    )
    SELECT 1 FROM profiles r LEFT JOIN found f ON f.root_id = r.profile_id
    WHERE r.tenant_id = $1 AND r.root_id = r.profile_id
      AND ROW(r.email_count, r.phone_count, r.device_count, r.external_id)::text IS DISTINCT FROM f.counts`,
  'a profile that speaks for an EXTERNAL identifier and is no root': `
    SELECT 1 FROM profiles WHERE tenant_id = $1 AND external_id IS NOT NULL AND root_id <> profile_id`,
  'an identifier of no profile': `
    SELECT 1 FROM profile_identifiers i LEFT JOIN profiles p USING (tenant_id, profile_id)
    WHERE i.tenant_id = $1 AND p.profile_id IS NULL`,
  'a merge in force between two customers': `
    SELECT 1 FROM profile_merges m
      JOIN profiles f ON f.tenant_id = m.tenant_id AND f.profile_id = m.from_evidence_id
      JOIN profiles t ON t.tenant_id = m.tenant_id AND t.profile_id = m.into_evidence_id
    WHERE m.tenant_id = $1 AND m.undone_at IS NULL AND f.root_id <> t.root_id`,
  'an undone merge within one customer': `
    SELECT 1 FROM profile_merges m
      JOIN profiles f ON f.tenant_id = m.tenant_id AND f.profile_id = m.from_evidence_id
      JOIN profiles t ON t.tenant_id = m.tenant_id AND t.profile_id = m.into_evidence_id
    WHERE m.tenant_id = $1 AND m.undone_at IS NOT NULL AND f.root_id = t.root_id`,
  'profiles that an undone merge parted, in one customer': `
    WITH sides AS (
      SELECT tenant_id, merge_id, side, profile_id FROM undone_merge_sides WHERE tenant_id = $1
      UNION ALL
      SELECT tenant_id, id, 'from', from_evidence_id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NOT NULL
      UNION ALL
      SELECT tenant_id, id, 'into', into_evidence_id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NOT NULL
    )
    SELECT 1 FROM sides f JOIN sides t USING (tenant_id, merge_id)
      JOIN profiles a ON a.tenant_id = f.tenant_id AND a.profile_id = f.profile_id
      JOIN profiles b ON b.tenant_id = t.tenant_id AND b.profile_id = t.profile_id
    WHERE f.side = 'from' AND t.side = 'into' AND a.root_id = b.root_id`,
  'a customer with more or fewer merges in force than hold its profiles together': `
    WITH merges AS (
      SELECT f.root_id, count(*) AS in_force FROM profile_merges m
        JOIN profiles f ON f.tenant_id = m.tenant_id AND f.profile_id = m.from_evidence_id
      WHERE m.tenant_id = $1 AND m.undone_at IS NULL GROUP BY f.root_id
    ), customers AS (
      SELECT root_id, count(*) AS profiles FROM profiles WHERE tenant_id = $1 GROUP BY root_id
    )
    SELECT 1 FROM customers LEFT JOIN merges USING (root_id) WHERE profiles - 1 <> coalesce(in_force, 0)`,
  'an event of no profile': `
    SELECT 1 FROM events e LEFT JOIN profiles p USING (tenant_id, profile_id)
    WHERE e.tenant_id = $1 AND p.profile_id IS NULL`,
};

/** The rules that the customers of a workspace break; an empty list when all is well. */
export async function brokenRules(databaseUrl: string, tenantId: string): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    const broken: string[] = [];
    for (const [rule, query] of Object.entries(VIOLATIONS)) {
      const { rowCount } = await client.query(query, [tenantId]);
      if (rowCount !== 0) broken.push(`${rule}: ${rowCount}`);
    }
    return broken;
  });
}
