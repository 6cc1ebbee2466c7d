import { In, type EntityManager, type EntityTarget, type FindOptionsWhere } from 'typeorm';
import { KeyedMutex } from '../async/keyed-mutex';
import { validationFailed } from '../errors/validation-failed';
import { UNFINISHED_STATES } from './work-states';

/** Of one kind, in one workspace. The jobs of all workspaces take turns, so that each further one would delay the others. */
const UNFINISHED_MAX = 10;

/** What is stored with a job that runs until it is done. */
interface LastingWork {
  readonly tenantId: string;
  readonly state: string;
}

/** Starts work that jobs do step by step, unless the workspace has too much of the kind under way. */
export class UnfinishedLimit<Work extends LastingWork> {
  /** Of one workspace, one at a time starts in a process; so each process exceeds the limit by one at most. */
  private readonly starts = new KeyedMutex();

  /** `names`: what the work is called, in the plural. */
  constructor(
    private readonly manager: EntityManager,
    private readonly entity: EntityTarget<Work>,
    private readonly names: string,
  ) {}

  /** Returns or throws what `start` does. Throws `validation_failed` at the limit. */
  start<T>(tenantId: string, start: () => Promise<T>): Promise<T> {
    return this.starts.runExclusive(tenantId, async () => {
      await this.assertMayStart(tenantId);
      return start();
    });
  }

  private async assertMayStart(tenantId: string): Promise<void> {
    const where = { tenantId, state: In(UNFINISHED_STATES) } as FindOptionsWhere<Work>;
    assertMayRunMore(await this.manager.countBy(this.entity, where), this.names);
  }
}

/** Throws `validation_failed` when a workspace runs as much of a kind as it may. `names`: the kind, in the plural. */
export function assertMayRunMore(running: number, names: string): void {
  if (running < UNFINISHED_MAX) return;
  const message = `The workspace already runs ${UNFINISHED_MAX} ${names}, which is the limit; wait until one is over.`;
  throw validationFailed([{ path: '', code: 'limit_exceeded', message }]);
}
