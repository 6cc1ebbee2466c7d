import type { ConnectionSettings } from './connection-settings';
import type { OneWorkspaceForm, Statement } from './statement';

/*
 * Citus has a statement run on one worker node if it names its workspace by a scalar parameter. The
 * statements of the hot path are written for rows of many workspaces, each row with its own, because that is up to ten times
 * as fast on one PostgreSQL with many small workspaces (docs/adr/0062). The form for one workspace is made from the same
 * text here, unless a statement brings it along (`Statement.oneWorkspace`).
 */

/** `unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, kind, position)` */
const ROWS = /unnest\(\$(\d+)::uuid\[\], ([^)]*)\)(\s+WITH ORDINALITY)?(\s+AS) (\w+) \(tenant_id, ([^)]*)\)/g;
/** `unnest($1::uuid[]) AS u (tenant_id)` */
const WORKSPACES = /unnest\(\$(\d+)::uuid\[\]\) AS (\w+) \(tenant_id\)/;
/** `json_to_recordset($1::json) AS p (tenant_id uuid, …)` */
const JSON_ROWS = /json_to_recordset\(\$\d+::json\) AS (\w+) \(tenant_id uuid, /;
/** An insert of rows and nothing else: `INSERT … SELECT … FROM unnest(…) AS u (…)`. */
const PLAIN_INSERT =
  /^(\s*INSERT INTO [^(]*\([^)]*\)\s+)SELECT ([^]*?)\n +FROM unnest\(([^)]*)\)\s+AS (\w+) \(([^)]*)\)(?=\s*(?:ON CONFLICT[^]*|RETURNING[^]*)?$)/;

const made = new WeakMap<Statement, Statement & OneWorkspaceForm>();

/** The form of a statement for rows of one workspace. */
export function oneWorkspaceStatement(statement: Statement): Statement & OneWorkspaceForm {
  const known = made.get(statement);
  if (known !== undefined) return known;
  const form = { name: `${statement.name}_of_one`, ...(statement.oneWorkspace ?? oneWorkspaceForm(statement.text)) };
  made.set(statement, form);
  return form;
}

/** Text and parameters of a statement for a client that is no `PipelinedConnection`. */
export function queryOf(
  statement: Statement,
  values: readonly unknown[],
  { isOneWorkspace }: Pick<ConnectionSettings, 'isOneWorkspace'>,
): [string, unknown[]] {
  if (isOneWorkspace !== true) return [statement.text, [...values]];
  const form = oneWorkspaceStatement(statement);
  return [form.text, [...form.values(values, undefined)]];
}

/** The form for one workspace of a text. One that names its workspace by a scalar already stays as it is. */
export function oneWorkspaceForm(text: string): OneWorkspaceForm {
  const [first, ...others] = text.matchAll(ROWS);
  if (first !== undefined) {
    const [, number = '', arrays = ''] = first;
    const workspace = `$${number}::uuid`;
    const counted = text.replaceAll(`cardinality(${workspace}[])`, `cardinality(${arrays.split(', ')[0] ?? ''})`);
    // A union reads the same rows in each of its parts.
    const scalar = [first, ...others.filter(([, other]) => other === number)].reduce(
      (form, [all, , columns = '', ordinality = '', as = '', alias = '', names = '']) =>
        named(form.replaceAll(all, `unnest(${columns})${ordinality}${as} ${alias} (${names})`), alias, workspace),
      counted,
    );
    const form = asValues(scalar);
    // A statement that does nothing with the workspaces of its rows reads no table of workspaces.
    return form.includes(workspace) ? { text: form, values: replacing(Number(number) - 1) } : ofScalar(text);
  }
  const workspaces = WORKSPACES.exec(text);
  if (workspaces !== null) {
    const [all, number = '', alias = ''] = workspaces;
    const row = `(SELECT $${number}::uuid) AS ${alias} (tenant_id)`;
    return { text: named(text.replace(all, row), alias, `$${number}::uuid`), values: replacing(Number(number) - 1) };
  }
  const json = JSON_ROWS.exec(text);
  if (json === null) return ofScalar(text);
  const last = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  return { text: named(text, json[1] ?? '', `$${last + 1}::uuid`), values: appending };
}

/** Of a text that names the workspace by $1 already, or none at all. */
function ofScalar(text: string): OneWorkspaceForm {
  const isScalar = /tenant_id = \$1::uuid|\$1::uuid AS tenant_id/.test(text);
  return { text: isScalar ? named(text, '', '$1::uuid') : timed(text), values: (values) => values };
}

/** A change must not call volatile functions; the time at which the statement began is one for all nodes. */
function timed(text: string): string {
  return text.replaceAll('clock_timestamp()', 'statement_timestamp()');
}

/** Takes the workspace in the place of an array of workspaces. Throws where one of these is another. */
export function replacing(...positions: readonly number[]): OneWorkspaceForm['values'] {
  return (values, tenantId) => {
    const scalars = [...values];
    let workspace = tenantId;
    for (const position of positions) {
      for (const each of values[position] as readonly string[]) workspace = same(each, workspace);
      scalars[position] = workspace;
    }
    return scalars;
  };
}

function appending(values: readonly unknown[], tenantId: string | undefined): readonly unknown[] {
  if (tenantId === undefined) throw new Error('A transaction on a distributed database names its workspace');
  return [...values, tenantId];
}

function same(each: string, workspace: string | undefined): string {
  if (workspace !== undefined && each !== workspace) {
    throw new Error('A transaction on a distributed database is of one workspace');
  }
  return each;
}

/** Names the workspace by the parameter, wherever the text takes it from a row. */
function named(text: string, rows: string, workspace: string): string {
  return timed(text)
    .replaceAll(/\btenant_id = \w+\.tenant_id\b/g, `tenant_id = ${workspace}`)
    .replaceAll(/(ORDER BY|PARTITION BY) \w+\.tenant_id, /g, '$1 ')
    .replaceAll(rows === '' ? /$^/g : new RegExp(`\\b${rows}\\.tenant_id\\b`, 'g'), `${workspace} AS tenant_id`);
}

/** `INSERT … SELECT` would run on the coordinator, at four times the cost; `VALUES` goes to the node of the workspace. */
function asValues(text: string): string {
  const insert = PLAIN_INSERT.exec(text);
  if (insert === null) return text;
  const [all, into = '', list = '', parameters = '', rows = '', names = ''] = insert;
  const arrays = parameters.split(', ');
  const columns = names.split(', ');
  const values = columns.reduce(
    (items, name, index) =>
      items.replaceAll(new RegExp(`\\b${rows}\\.${name}\\b`, 'g'), `unnest(${arrays[index] ?? ''})`),
    list === '*' ? columns.map((name) => `${rows}.${name}`).join(', ') : list.replaceAll(' AS tenant_id', ''),
  );
  return text.replace(all, `${into}VALUES (${values})`);
}
