import { unavailable } from '../errors/unavailable';
import { databaseRefusal } from '../postgres/database-errors';
import type { Commits, SizedWork } from './group-commit';

/** Finds the node of a workspace; a promise only where it has to be looked up. */
interface Nodes {
  of(tenantId: string): string | Promise<string>;
}

/**
 * A group commit for each node of a distributed database, connected to that node. A node that hangs or is down delays the
 * work of its own workspaces only. Limits of bytes are those of each node.
 */
export class GroupCommitPerNode<Work, Answer> implements Commits<Work, Answer> {
  /** By the addresses of their nodes. */
  private readonly opened = new Map<string, Commits<Work, Answer>>();
  private isClosed = false;

  constructor(
    private readonly nodes: Nodes,
    private readonly openOn: (node: string) => Commits<Work, Answer>,
  ) {}

  async submit(tenantId: string, piece: SizedWork<Work>): Promise<Answer> {
    const found = this.find(tenantId);
    return (found instanceof Promise ? await found : found).submit(tenantId, piece);
  }

  async submitBulk(tenantId: string, pieces: readonly SizedWork<Work>[]): Promise<Answer[]> {
    const found = this.find(tenantId);
    return (found instanceof Promise ? await found : found).submitBulk(tenantId, pieces);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.opened.values()].map((commits) => commits.close()));
  }

  /** At once where the node is known, so that work is taken before `close`. */
  private find(tenantId: string): Commits<Work, Answer> | Promise<Commits<Work, Answer>> {
    const node = this.nodes.of(tenantId);
    if (!(node instanceof Promise)) return this.on(node);
    return node.then(
      (found) => this.on(found),
      (error: unknown) => {
        throw databaseRefusal(error) ?? error;
      },
    );
  }

  private on(node: string): Commits<Work, Answer> {
    if (this.isClosed) throw unavailable();
    const known = this.opened.get(node);
    if (known !== undefined) return known;
    const opened = this.openOn(node);
    this.opened.set(node, opened);
    return opened;
  }
}
