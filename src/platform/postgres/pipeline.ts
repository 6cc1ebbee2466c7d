import type { Client } from 'pg';
import { NO_ANSWER } from './database-errors';
import type { Statement } from './statement';
import { PreparedStatements, StatementGroup, type SentStatement, type StatementAnswer } from './statement-group';
import { wireValues } from './wire-values';

interface Waiting {
  readonly statements: SentStatement[];
  /** Nothing joins a group that stands alone: what fails in it concerns nobody else. */
  readonly isAlone: boolean;
}

/**
 * Sends statements over one connection in groups: whatever is asked in one turn of the event loop, and while the group before is
 * under way. They run in the order of the calls.
 */
export class Pipeline {
  private readonly prepared = new PreparedStatements();
  private readonly waiting: Waiting[] = [];
  private isBusy = false;

  /** A group that takes longer than `timeoutMs` takes the connection with it: the server or the network is gone. */
  constructor(
    private readonly client: Client,
    private readonly timeoutMs: number,
  ) {}

  /** A statement along with those before and behind it; when one of a group fails, so do those behind it. */
  send(statement: Statement, values: readonly unknown[], { alone = false } = {}): Promise<StatementAnswer> {
    return new Promise((resolve, reject) => {
      const sent = { statement, values: wireValues(statement, values), resolve, reject };
      const last = this.waiting.at(-1);
      if (last !== undefined && !last.isAlone && !alone) last.statements.push(sent);
      else this.waiting.push({ statements: [sent], isAlone: alone });
      // Once for each turn: behind everything else that is asked in it.
      if (!this.isBusy) {
        this.isBusy = true;
        process.nextTick(() => this.sendNext());
      }
    });
  }

  private sendNext(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.isBusy = false;
      return;
    }
    const timer = setTimeout(() => {
      this.client.connection.stream.destroy(new Error(NO_ANSWER));
    }, this.timeoutMs);
    const done = (): void => {
      clearTimeout(timer);
      this.sendNext();
    };
    this.client.query(new StatementGroup(next.statements, this.prepared, done));
  }
}
