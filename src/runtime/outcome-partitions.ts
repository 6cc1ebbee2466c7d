import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { sqlStateOf } from '../platform/postgres/database-errors';
import { describeError } from '../platform/errors/error-summary';
import { partitionName, weeksToHave, type Week } from './domain/outcome-weeks';
import { OutcomeClock } from './outcome-clock';

const ROUND_MS = 60 * 60 * 1000;
/**
 * One node changes the table after the other, and mutations go on: for a partition that goes while another node looks it up,
 * PostgreSQL has nothing better than an internal error.
 */
const TAKE_TURN = 'LOCK TABLE ONLY mutation_outcomes IN SHARE UPDATE EXCLUSIVE MODE';
const TURN_LOCK_TIMEOUT = '5s';
/** Making one stops no mutation: it only waits for others who make one, or change the table. */
const MAKE_LOCK_TIMEOUT = '2s';
/** Mutations wait behind whoever waits to drop one, so shorter than they do; somebody may be reading it for hours. */
const DROP_LOCK_TIMEOUT = '200ms';
/** Several nodes may want the same: the slower one finds the table made, or gone. */
const DONE_ELSEWHERE: ReadonlySet<string | undefined> = new Set(['42P07', '42710', '23505', '42P01']);

/**
 * Keeps the outcomes of mutations in weekly partitions (contract section 8, retention): makes those of the coming weeks and
 * drops those in which nothing is known any more. Dropping a table costs nothing, where deleting its rows would leave a
 * trail that has to be vacuumed. Which weeks these are is said by the clock of outcomes, and by no machine's.
 */
@Injectable()
export class OutcomePartitions implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutcomePartitions.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: OutcomeClock,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /** Before the first request: without a partition of this week no mutation can be stored. */
  async onApplicationBootstrap(): Promise<void> {
    await this.clock.start();
    await this.makeAhead();
    await this.round();
    this.timer = setInterval(() => void this.round(), ROUND_MS);
    this.timer.unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Makes those of the coming weeks. Any number of nodes may do it at once. */
  async makeAhead(): Promise<void> {
    const { ahead } = this.weeks();
    const there = await this.there();
    for (const week of ahead.filter((each) => !there.includes(partitionName(each)))) {
      await this.change(creation(week), MAKE_LOCK_TIMEOUT);
    }
  }

  /** Drops those in which nothing is known any more. Any number of nodes may do it at once. */
  async dropOld(): Promise<void> {
    const oldest = partitionName(this.weeks().oldest);
    const there = await this.there();
    for (const name of there.filter((each) => each < oldest)) {
      await this.change([`DROP TABLE ${name}`], DROP_LOCK_TIMEOUT);
    }
  }

  private weeks(): ReturnType<typeof weeksToHave> {
    return weeksToHave(this.clock.now(), this.settings.mutationRetentionDays);
  }

  private async there(): Promise<string[]> {
    const rows: { name: string }[] = await this.database.query(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'mutation_outcomes'::regclass`,
    );
    return rows.map(({ name }) => name);
  }

  /** One table in one transaction: whoever holds locks for one and wants those for another deadlocks with the next node. */
  private async change(statements: readonly string[], lockTimeout: string): Promise<void> {
    try {
      await this.database.transaction(async (manager) => {
        await manager.query(`SET LOCAL lock_timeout = '${TURN_LOCK_TIMEOUT}'`);
        await manager.query(TAKE_TURN);
        await manager.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
        for (const statement of statements) await manager.query(statement);
      });
    } catch (error) {
      if (!DONE_ELSEWHERE.has(sqlStateOf(error))) throw error;
    }
  }

  private async round(): Promise<void> {
    try {
      await this.makeAhead();
      await this.dropOld();
    } catch (error) {
      this.logger.warn(`Partitions of outcomes could not be kept up now: ${describeError(error).line}`);
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
