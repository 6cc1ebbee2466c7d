import { types, type Connection, type Submittable } from 'pg';
import type { Row, Statement } from './statement';
import type { WireValue } from './wire-values';

/** What came of a statement. */
export interface StatementAnswer {
  readonly rows: readonly Row[];
  /** The first word of what PostgreSQL says it did, such as COMMIT, which may be answered with ROLLBACK. */
  readonly command: string;
}

/** A statement on its way, and who waits for its answer. */
export interface SentStatement {
  readonly statement: Statement;
  readonly values: readonly WireValue[];
  readonly resolve: (answer: StatementAnswer) => void;
  readonly reject: (error: unknown) => void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: Parameters<typeof types.getTypeParser>[0];
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** A statement that the server has parsed under its name; its columns are known from its first answer on. */
interface Prepared {
  columns: readonly Column[];
}

/** Which statements the server has parsed on a connection. */
export class PreparedStatements {
  readonly known = new Map<string, Prepared>();
  /** Failed in the group that first sent them, so that the server may have parsed them or not. */
  readonly doubtful = new Set<string>();
}

/**
 * Statements that go out in one piece and whose answers come back in one: one Sync for all of them, where `pg` sends one for each
 * and so has the server write, and this process wake up, as many times. When one fails, PostgreSQL skips those behind it.
 * A `pg` Submittable, like its cursors.
 */
export class StatementGroup implements Submittable {
  private at = 0;
  private rows: Row[] = [];
  private readonly newlyParsed = new Map<number, Prepared>();

  /** `done` is called once: when all is answered, or when it has failed. */
  constructor(
    private readonly statements: readonly SentStatement[],
    private readonly prepared: PreparedStatements,
    private readonly done: () => void,
  ) {}

  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    this.statements.forEach(({ statement, values }, index) => {
      const isKnown = this.prepared.known.has(statement.name);
      if (!isKnown) this.parse(connection, statement, index);
      connection.bind({ statement: statement.name, values: values as WireValue[] }, true);
      if (!isKnown) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    });
    connection.sync();
    stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const prepared = this.newlyParsed.get(this.at);
    if (prepared === undefined) return;
    prepared.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: types.getTypeParser(dataTypeID, 'text') as Column['read'],
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.prepared.known.get(this.statements[this.at]?.statement.name ?? '')?.columns ?? [];
    const row: Record<string, unknown> = {};
    columns.forEach(({ name, read }, index) => {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : read(text);
    });
    this.rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.statements[this.at]?.resolve({ rows: this.rows, command: text.split(' ', 1)[0] ?? '' });
    this.rows = [];
    this.at += 1;
  }

  handleReadyForQuery(): void {
    this.done();
  }

  handleError(error: unknown): void {
    this.statements.slice(this.at).forEach(({ statement: { name }, reject }, index) => {
      // The one that failed is parsed anew, for it may have failed because its tables have changed.
      const isDoubtful = index === 0 || this.newlyParsed.has(this.at + index);
      if (isDoubtful && this.prepared.known.delete(name)) this.prepared.doubtful.add(name);
      reject(error);
    });
    this.done();
  }

  private parse(connection: Connection, { name, text }: Statement, index: number): void {
    // Closing what is not there is no error, parsing a name for the second time is one.
    if (this.prepared.doubtful.delete(name)) connection.close({ type: 'S', name }, true);
    connection.parse({ name, text, types: [] }, true);
    const prepared = { columns: [] };
    this.prepared.known.set(name, prepared);
    this.newlyParsed.set(index, prepared);
  }
}
