import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { sqlStateOf } from '../platform/database/database-errors';
import { describeSummary, summariseError } from '../platform/errors/error-summary';
import { partitionName, weeksToHave, type Week } from './domain/outcome-weeks';

const ROUND_MS = 60 * 60 * 1000;
/** Whoever makes or drops a partition takes locks that mutations wait behind; rather try again in an hour. */
const LOCK_TIMEOUT = '2s';
/** Two nodes may be at it at once; the one that is slower finds the tables made, and looks again. */
const ATTEMPTS_MAX = 3;
const MADE_ELSEWHERE: ReadonlySet<string | undefined> = new Set(['42P07', '42710', '23505', '42P01']);

/**
 * Keeps the outcomes of mutations in weekly partitions (contract section 8, retention): makes those of the coming weeks and
 * drops those in which nothing is known any more. Dropping a table costs nothing, where deleting its rows would leave a
 * trail that has to be vacuumed.
 */
@Injectable()
export class OutcomePartitions implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutcomePartitions.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /** Before the first request: without a partition of this week no mutation can be stored. */
  async onApplicationBootstrap(): Promise<void> {
    await this.keepUp();
    this.timer = setInterval(() => void this.round(), ROUND_MS);
    this.timer.unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Makes and drops what is due. Any number of nodes may do it at once. */
  async keepUp(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.database.transaction((manager) => this.makeAndDrop(manager));
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !MADE_ELSEWHERE.has(sqlStateOf(error))) throw error;
      }
    }
  }

  private async makeAndDrop(manager: EntityManager): Promise<void> {
    const { ahead, oldest } = weeksToHave(this.clock.now(), this.settings.mutationRetentionDays);
    await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    const rows: { name: string }[] = await manager.query(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'mutation_outcomes'::regclass`,
    );
    const there = new Set(rows.map(({ name }) => name));
    for (const week of ahead.filter((each) => !there.has(partitionName(each)))) {
      for (const statement of creation(week)) await manager.query(statement);
    }
    const old = [...there].filter((name) => name < partitionName(oldest));
    for (const name of old) await manager.query(`DROP TABLE ${name}`);
  }

  private async round(): Promise<void> {
    try {
      await this.keepUp();
    } catch (error) {
      this.logger.warn(
        `Partitions of outcomes could not be kept up now: ${describeSummary(summariseError(error)).line}`,
      );
    }
  }
}

/** Made beside its parent and then attached, which lets mutations go on; CREATE … PARTITION OF would stop them all. */
function creation(week: Week): string[] {
  const name = partitionName(week);
  return [
    `CREATE TABLE ${name} (LIKE mutation_outcomes INCLUDING ALL)
      WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 0)`,
    `ALTER TABLE mutation_outcomes ATTACH PARTITION ${name}
      FOR VALUES FROM ('${week.from.toISOString()}') TO ('${week.to.toISOString()}')`,
  ];
}
