import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { SteadyClient } from '../../platform/postgres/steady-client';

/** Of the database, for all workspaces. */
const CHANNEL = 'cds_console_live';
const SEND = `SELECT pg_notify('${CHANNEL}', message) FROM unnest($1::text[]) AS message`;
const CONNECT_MS_MAX = 1_500;
const RECONNECT_MS = 500;
/** A line that is silently cut is noticed within this time and the next one. */
const PROBE_MS = 5_000;
const PROBE_MS_MAX = 2_000;

/**
 * Carries messages between the processes of an installation by LISTEN and NOTIFY: nothing is stored, and what is sent while a
 * listener is away is lost to it. A process listens, on a connection of its own, only while it has viewers.
 */
@Injectable()
export class LiveChannel implements BeforeApplicationShutdown {
  private readonly outage = new OutageLog(new Logger(LiveChannel.name), {
    began: 'Live events are not shown now.',
    ended: 'Live events are shown again.',
  });
  private listener: ((message: string) => void) | undefined;
  private opening: Promise<SteadyClient> | undefined;
  private client: SteadyClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Counts drops: a connection that was begun before one must not be used after it. */
  private drops = 0;

  constructor(
    private readonly database: DataSource,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {}

  /** Listens until `unlisten`; connects again when the connection is lost. Throws if it cannot connect now. */
  async listen(listener: (message: string) => void): Promise<void> {
    this.listener = listener;
    await this.connected();
  }

  unlisten(): void {
    this.listener = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drop();
  }

  /** Sends messages to all processes that listen, this one too; each has less than 8,000 bytes. */
  async send(messages: readonly string[]): Promise<void> {
    await this.database.query(SEND, [messages]);
  }

  beforeApplicationShutdown(): void {
    this.unlisten();
  }

  private connected(): Promise<SteadyClient> {
    if (this.opening !== undefined) return this.opening;
    const opening = this.open();
    this.opening = opening;
    opening.catch(() => {
      if (this.opening === opening) this.opening = undefined;
    });
    return opening;
  }

  private async open(): Promise<SteadyClient> {
    const { drops } = this;
    const client = new SteadyClient({
      connectionString: this.settings.url,
      application_name: 'cds-console-live',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: PROBE_MS_MAX,
    });
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) this.listener?.(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    if (this.drops !== drops) {
      void client.end().catch(() => undefined);
      throw new Error('The connection is not needed any more');
    }
    this.client = client;
    client.once('end', () => this.lost(client));
    this.outage.succeeded();
    this.probeLater();
    return client;
  }

  /** A lost connection fails here too, if it has not ended by itself. */
  private async probe(): Promise<void> {
    try {
      const client = await this.connected();
      await client.query('SELECT 1');
      this.probeLater();
    } catch (error) {
      if (this.listener === undefined) return;
      this.outage.failed(describeError(error).line);
      this.drop();
      this.probeLater(RECONNECT_MS);
    }
  }

  private probeLater(ms = PROBE_MS): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), ms).unref();
  }

  private lost(client: SteadyClient): void {
    if (this.client !== client) return;
    this.drop();
    if (this.listener !== undefined) this.probeLater(RECONNECT_MS);
  }

  private drop(): void {
    const { client } = this;
    this.drops += 1;
    this.client = undefined;
    this.opening = undefined;
    void client?.end().catch(() => undefined);
  }
}
