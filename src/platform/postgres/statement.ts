/** A statement that PostgreSQL plans once per connection. `name` identifies it, so each text needs a name of its own. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Its form for rows of one workspace, where that cannot be made from the text (`one-workspace.ts`). */
  readonly oneWorkspace?: OneWorkspaceForm;
}

/** A text that names one workspace by a scalar parameter. */
export interface OneWorkspaceForm {
  readonly text: string;
  /** Its parameters, from those of the statement; `tenantId`: the workspace of the transaction, if that is known. */
  readonly values: (values: readonly unknown[], tenantId: string | undefined) => readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement without parameters and returns its rows. */
export type RunStatement = (statement: Statement) => Promise<readonly Row[]>;
