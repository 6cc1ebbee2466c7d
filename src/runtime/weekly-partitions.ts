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
import { partitionName, WEEKLY_TABLES, weeksToHave, type Week, type WeeklyTable } from './domain/partition-weeks';
import { OutcomeClock } from './outcome-clock';

const MAINTENANCE_EVERY_MS = 60 * 60 * 1000;
/**
 * Nodes change the table one after the other; mutations go on. Without this lock PostgreSQL may answer with an internal
 * error when one node drops a partition that another node is looking up.
 */
const lockOf = (table: WeeklyTable): string => `LOCK TABLE ONLY ${table} IN SHARE UPDATE EXCLUSIVE MODE`;
const PARENT_LOCK_TIMEOUT = '5s';
/** Creating a partition blocks no mutation; it waits only for other changes of the table. */
const CREATE_LOCK_TIMEOUT = '2s';
/**
 * Mutations wait behind a waiting DROP, so it is shorter than their own timeout: a reader may hold the partition for
 * hours.
 */
const DROP_LOCK_TIMEOUT = '200ms';
/** Another node did the same first: the partition exists already, or is gone. */
const DONE_ELSEWHERE: ReadonlySet<string | undefined> = new Set(['42P07', '42710', '23505', '42P01']);

/**
 * Maintains the weekly partitions of mutation outcomes and of the history of values (contract sections 8 and 12,
 * retention): creates those of the coming weeks and drops those whose rows have all expired. Dropping a table is cheap;
 * deleting its rows would leave work for vacuum. The outcome clock decides which weeks these are.
 */
@Injectable()
export class WeeklyPartitions implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(WeeklyPartitions.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: OutcomeClock,
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
  ) {}

  /** Runs before the first request: without a partition of this week no mutation can be stored. */
  async onApplicationBootstrap(): Promise<void> {
    await this.clock.start();
    if (!(await this.hasCurrent())) await this.createAhead();
    // Weeks that are still to come can wait, such as for a node of a distributed database.
    await this.maintain();
    this.timer = setInterval(() => void this.maintain(), MAINTENANCE_EVERY_MS);
    this.timer.unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Creates the partitions of the coming weeks. Any number of nodes may do it at once. */
  async createAhead(): Promise<void> {
    for (const table of WEEKLY_TABLES) {
      const { ahead } = this.weeks(table);
      const existing = await this.existingNames(table);
      for (const week of ahead.filter((each) => !existing.includes(partitionName(table, each)))) {
        await this.change(table, creation(table, week), CREATE_LOCK_TIMEOUT);
      }
    }
  }

  /** Drops the partitions whose rows have all expired. Any number of nodes may do it at once. */
  async dropOld(): Promise<void> {
    for (const table of WEEKLY_TABLES) {
      const oldest = partitionName(table, this.weeks(table).oldest);
      const existing = await this.existingNames(table);
      for (const name of existing.filter((each) => each < oldest)) {
        await this.change(table, [`DROP TABLE ${name}`], DROP_LOCK_TIMEOUT);
      }
    }
  }

  /** Whether rows can be stored now, also by a node that is behind the others for a moment. */
  private async hasCurrent(): Promise<boolean> {
    for (const table of WEEKLY_TABLES) {
      const existing = await this.existingNames(table);
      const current = this.weeks(table).ahead.slice(0, 2);
      if (!current.every((week) => existing.includes(partitionName(table, week)))) return false;
    }
    return true;
  }

  private weeks(table: WeeklyTable): ReturnType<typeof weeksToHave> {
    const { mutationRetentionDays, stateHistoryDays } = this.settings;
    return weeksToHave(this.clock.now(), table === 'value_changes' ? stateHistoryDays : mutationRetentionDays);
  }

  private async existingNames(table: WeeklyTable): Promise<string[]> {
    const rows: { name: string }[] = await this.database.query(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = $1::regclass`,
      [table],
    );
    return rows.map(({ name }) => name);
  }

  /** One table per transaction: with locks on several tables, two nodes could deadlock. */
  private async change(table: WeeklyTable, statements: readonly string[], lockTimeout: string): Promise<void> {
    try {
      await this.database.transaction(async (manager) => {
        await manager.query(`SET LOCAL lock_timeout = '${PARENT_LOCK_TIMEOUT}'`);
        await manager.query(lockOf(table));
        await manager.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
        for (const statement of statements) await manager.query(statement);
      });
    } catch (error) {
      if (!DONE_ELSEWHERE.has(sqlStateOf(error))) throw error;
    }
  }

  private async maintain(): Promise<void> {
    try {
      await this.createAhead();
      await this.dropOld();
    } catch (error) {
      this.logger.warn(`The weekly partitions could not be maintained: ${describeError(error).line}`);
    }
  }
}

/** Created by itself and then attached: CREATE … PARTITION OF would block all mutations. */
function creation(table: WeeklyTable, week: Week): string[] {
  const name = partitionName(table, week);
  return [
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)
      WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 0)`,
    `ALTER TABLE ${table} ATTACH PARTITION ${name}
      FOR VALUES FROM ('${week.from.toISOString()}') TO ('${week.to.toISOString()}')`,
  ];
}
