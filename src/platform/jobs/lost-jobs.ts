import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In, type EntityManager, type EntityTarget, type FindOptionsWhere } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import { EVERY_TEN_MINUTES, Jobs } from './jobs';
import { UNFINISHED_STATES } from './work-states';

/** Of one kind. What is left gets its job in ten minutes, or when others have ended. */
const LOOKED_AT_MAX = 1_000;

/** What is stored with a job that runs until it is done. */
interface LastingWork {
  readonly tenantId: string;
  readonly id: string;
  readonly state: string;
}

interface WatchedWork<Work extends LastingWork> {
  /** The name of its jobs, whose keys are `tenantId/id`. */
  readonly job: string;
  readonly entity: EntityTarget<Work>;
  readonly add: (manager: EntityManager, work: Work) => Promise<void>;
}

/**
 * On a distributed database a worker node commits before the coordinator, which has the jobs. When a server or the line dies
 * in between, work is stored without its job, which is added here. On one PostgreSQL both commit together.
 */
@Injectable()
export class LostJobs implements OnModuleInit {
  private readonly watched: (() => Promise<void>)[] = [];

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    if (this.connection.isDistributed !== true) return;
    this.jobs.handle('lost-jobs', () => this.addAll(), { cron: EVERY_TEN_MINUTES });
  }

  watch<Work extends LastingWork>(work: WatchedWork<Work>): void {
    this.watched.push(() => this.addLost(work));
  }

  async addAll(): Promise<void> {
    for (const addLost of this.watched) await addLost();
  }

  /** The rows are read first: a step commits there before its job is replaced by the next one. */
  private async addLost<Work extends LastingWork>({ job, entity, add }: WatchedWork<Work>): Promise<void> {
    const where = { state: In(UNFINISHED_STATES) } as FindOptionsWhere<Work>;
    const lasting = await this.database.manager.find(entity, { where, take: LOOKED_AT_MAX });
    const keyOf = ({ tenantId, id }: Work): string => `${job}/${tenantId}/${id}`;
    const rows: { key: string }[] = await this.database.query(
      'SELECT key FROM cds_jobs.jobs WHERE key = ANY($1::text[])',
      [lasting.map(keyOf)],
    );
    const known = new Set(rows.map(({ key }) => key));
    for (const work of lasting.filter((each) => !known.has(keyOf(each)))) await add(this.database.manager, work);
  }
}
