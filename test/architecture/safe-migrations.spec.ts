import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * A new version migrates while the old one still serves (docs/adr/0027), so what a migration does must neither lock a table for
 * long nor take away what the old version uses. This looks at the texts of the migrations that come after the first release.
 */

const FOLDER = join(__dirname, '..', '..', 'src', 'platform', 'postgres', 'migrations');
/** Written before anybody had data: the fifth rewrites a table, which no later one may. */
const BEFORE_FIRST_RELEASE = 9;

/** What must not stand in a migration, and what to do instead. */
const UNSAFE: readonly (readonly [RegExp, string])[] = [
  [/\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i, 'rewrites the table: add a column, fill it in steps, switch'],
  [/\bDROP\s+(?:COLUMN|TABLE)\b/i, 'the old version still uses it: drop it one release later (say "-- unused since")'],
  [/\bRENAME\b/i, 'the old version knows the old name: add, copy, drop later'],
  [
    /\bADD\s+COLUMN\b[^,;]*\bNOT\s+NULL\b(?![^,;]*\bDEFAULT\b)/i,
    'fails for rows that are there: give a constant default',
  ],
  [/\bADD\s+COLUMN\b[^,;]*\bDEFAULT\s+(?:now|clock_timestamp|random|gen_random_uuid)\b/i, 'rewrites the table'],
  [/\bSET\s+NOT\s+NULL\b/i, 'reads the whole table under its lock: CHECK … NOT VALID, then VALIDATE'],
  [
    /\bADD\s+CONSTRAINT\b[^;]*\b(?:FOREIGN\s+KEY|CHECK)\b(?![^;]*\bNOT\s+VALID\b)/i,
    'NOT VALID first, VALIDATE in another',
  ],
  [
    /\bADD\s+CONSTRAINT\b[^;]*\b(?:UNIQUE|PRIMARY\s+KEY)\b(?![^;]*\bUSING\s+INDEX\b)/i,
    'build the index CONCURRENTLY first',
  ],
  [
    /\bCREATE\s+(?:UNIQUE\s+)?INDEX\b(?!\s+CONCURRENTLY)/i,
    'stops all writes to the table: CONCURRENTLY, without a transaction',
  ],
  [/\b(?:VACUUM\s+FULL|CLUSTER|LOCK\s+TABLE|TRUNCATE)\b/i, 'locks the table for as long as it takes'],
  [
    /\b(?:UPDATE|DELETE\s+FROM)\s+\w+(?![^;`]*\bLIMIT\b)[^;`]*`/i,
    'changes a whole table in one transaction: in steps, by a job',
  ],
];

/** New tables have no rows that somebody waits for. */
function faultsIn(text: string): string[] {
  const created = new Set(
    [...text.matchAll(/\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)/gi)].map(([, name]) => name),
  );
  const up = text.slice(0, text.search(/\basync\s+down\b|\bconst\s+DOWN\b/) >>> 0);
  const statements = [...up.matchAll(/`([^`]*)`|'((?:ALTER|CREATE|DROP|UPDATE|DELETE|LOCK)[^']*)'/g)].map(
    ([, long, short]) => `${long ?? short ?? ''}\``,
  );
  const faults = statements.flatMap((statement) => {
    const table = /\b(?:ON|TABLE|UPDATE|FROM)\s+(?:ONLY\s+)?([\w.]+)/i.exec(statement)?.[1];
    if (created.has(table)) return [];
    return UNSAFE.filter(([pattern]) => pattern.test(statement)).map(
      ([, instead]) => `${statement.slice(0, 60)} … ${instead}`,
    );
  });
  const changesTables = statements.some((statement) =>
    /\b(?:ALTER\s+TABLE|CREATE\s+(?:UNIQUE\s+)?INDEX)\b/i.test(statement),
  );
  return changesTables && !/SET (?:LOCAL )?lock_timeout/.test(up) ? [...faults, 'no lock_timeout'] : faults;
}

function migrationFiles(): string[] {
  return readdirSync(FOLDER).filter((file) => Number.parseInt(file, 10) > BEFORE_FIRST_RELEASE);
}

it('finds the migrations', () => {
  expect(readdirSync(FOLDER).length).toBeGreaterThanOrEqual(7);
});

it('every migration after the first release is safe while the version before it serves', () => {
  const faults = migrationFiles().flatMap((file) =>
    faultsIn(readFileSync(join(FOLDER, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

describe('what is unsafe is seen', () => {
  it.each([
    'ALTER TABLE events ALTER COLUMN source TYPE varchar(9)',
    'ALTER TABLE events DROP COLUMN source',
    'ALTER TABLE events RENAME COLUMN source TO origin',
    'ALTER TABLE events ADD COLUMN x text NOT NULL',
    'ALTER TABLE events ADD COLUMN x timestamptz DEFAULT now()',
    'ALTER TABLE events ALTER COLUMN source SET NOT NULL',
    'ALTER TABLE events ADD CONSTRAINT x CHECK (source <> 1)',
    'ALTER TABLE events ADD CONSTRAINT x UNIQUE (source)',
    'CREATE INDEX x ON events (source)',
    'LOCK TABLE events',
    'UPDATE events SET source = 1',
  ])('%s', (statement) => {
    const text = `SET lock_timeout; await runner.query(\`${statement}\`)`;
    expect(faultsIn(text)).toHaveLength(1);
  });

  it('a change without a limit on how long it waits for its lock', () => {
    expect(faultsIn('`ALTER TABLE events ADD COLUMN x text`')).toEqual(['no lock_timeout']);
  });

  it('and what is safe is not', () => {
    const safe = `
      await runner.query(\`SET LOCAL lock_timeout = '2s'\`);
      await runner.query(\`CREATE TABLE fresh (tenant_id uuid NOT NULL)\`);
      await runner.query(\`CREATE INDEX fresh_idx ON fresh (tenant_id)\`);
      await runner.query(\`ALTER TABLE events ADD COLUMN x text\`);
      await runner.query(\`CREATE INDEX CONCURRENTLY events_x_idx ON events (x)\`);
      async down() { await runner.query(\`DROP TABLE fresh\`) }`;
    expect(faultsIn(safe)).toEqual([]);
  });
});
