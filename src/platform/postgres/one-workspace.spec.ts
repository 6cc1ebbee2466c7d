import { oneWorkspaceForm, oneWorkspaceStatement, replacing } from './one-workspace';

const ONE = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

/** Without the line breaks, which mean nothing. */
const textOf = (text: string): string => oneWorkspaceForm(text).text.replaceAll(/\s+/g, ' ').trim();

describe('the form of a statement for one workspace', () => {
  it.each<[string, string, string]>([
    [
      'a look-up of rows',
      `SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, kind, position)
       CROSS JOIN LATERAL (SELECT 1 FROM t WHERE tenant_id = u.tenant_id AND kind = u.kind LIMIT 1) e`,
      'SELECT u.position FROM unnest($2::text[]) WITH ORDINALITY AS u (kind, position) ' +
        'CROSS JOIN LATERAL (SELECT 1 FROM t WHERE tenant_id = $1::uuid AND kind = u.kind LIMIT 1) e',
    ],
    [
      'two look-ups of the same rows',
      `SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, kind, position)
       CROSS JOIN LATERAL (SELECT 1 FROM t WHERE tenant_id = u.tenant_id AND kind = u.kind LIMIT 1) e
       UNION ALL
       SELECT w.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS w (tenant_id, name, position)
       CROSS JOIN LATERAL (SELECT 1 FROM s WHERE tenant_id = w.tenant_id AND kind = w.name LIMIT 1) e`,
      'SELECT u.position FROM unnest($2::text[]) WITH ORDINALITY AS u (kind, position) ' +
        'CROSS JOIN LATERAL (SELECT 1 FROM t WHERE tenant_id = $1::uuid AND kind = u.kind LIMIT 1) e ' +
        'UNION ALL SELECT w.position FROM unnest($2::text[]) WITH ORDINALITY AS w (name, position) ' +
        'CROSS JOIN LATERAL (SELECT 1 FROM s WHERE tenant_id = $1::uuid AND kind = w.name LIMIT 1) e',
    ],
    [
      'a change of rows that a CTE has found',
      `WITH few AS MATERIALIZED (
         SELECT u.tenant_id, u.id FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, id) ORDER BY u.tenant_id, u.id
       ) UPDATE t SET x = 1 FROM few f WHERE t.tenant_id = f.tenant_id AND t.id = f.id`,
      'WITH few AS MATERIALIZED ( SELECT $1::uuid AS tenant_id, u.id FROM unnest($2::uuid[]) AS u (id) ORDER BY u.id ) ' +
        'UPDATE t SET x = 1 FROM few f WHERE t.tenant_id = $1::uuid AND t.id = f.id',
    ],
    [
      'an insert of rows',
      `INSERT INTO t (tenant_id, a, b) SELECT u.tenant_id, u.a, now()
       FROM unnest($1::uuid[], $2::text[]) AS u (tenant_id, a)
       ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING`,
      'INSERT INTO t (tenant_id, a, b) VALUES ($1::uuid, unnest($2::text[]), now()) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING',
    ],
    [
      'rows in JSON',
      `UPDATE t SET a = u.a FROM json_to_recordset($1::json) AS u (tenant_id uuid, a text) WHERE t.tenant_id = u.tenant_id`,
      'UPDATE t SET a = u.a FROM json_to_recordset($1::json) AS u (tenant_id uuid, a text) WHERE t.tenant_id = $2::uuid',
    ],
    [
      'workspaces alone',
      `SELECT u.tenant_id FROM unnest($1::uuid[]) AS u (tenant_id) WHERE EXISTS (SELECT FROM t WHERE tenant_id = u.tenant_id)`,
      'SELECT $1::uuid AS tenant_id FROM (SELECT $1::uuid) AS u (tenant_id) ' +
        'WHERE EXISTS (SELECT FROM t WHERE tenant_id = $1::uuid)',
    ],
    [
      'what names its workspace already',
      'SELECT 1 FROM t WHERE tenant_id = $1::uuid AND id = ANY ($2::uuid[])',
      'SELECT 1 FROM t WHERE tenant_id = $1::uuid AND id = ANY ($2::uuid[])',
    ],
  ])('names it by a scalar in %s', (_what, text, form) => {
    expect(textOf(text)).toBe(form);
  });

  it('takes the workspace where the original takes one for each row', () => {
    expect(replacing(1)([['a', 'b'], [ONE, ONE], 5], undefined)).toEqual([['a', 'b'], ONE, 5]);
    expect(replacing(0)([[], []], ONE)).toEqual([ONE, []]);
    const { values } = oneWorkspaceForm('SELECT 1 FROM json_to_recordset($1::json) AS u (tenant_id uuid, a text)');
    expect(values(['[]'], ONE)).toEqual(['[]', ONE]);
    expect(() => values(['[]'], undefined)).toThrow('names its workspace');
  });

  it('takes no row of another workspace', () => {
    expect(() => replacing(0)([[ONE, OTHER]], undefined)).toThrow('of one workspace');
    expect(() => replacing(0)([[OTHER]], ONE)).toThrow('of one workspace');
  });

  it('has a name of its own, and is the one that the statement brings along', () => {
    const oneWorkspace = { text: 'SELECT 2', values: () => [] };
    expect(oneWorkspaceStatement({ name: 'x', text: 'SELECT 1', oneWorkspace })).toMatchObject({
      name: 'x_of_one',
      text: 'SELECT 2',
    });
  });
});
