/** A statement that PostgreSQL plans once a connection: `name` is its identity there, so two texts never share one. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;
