import { readFileSync } from 'node:fs';
import { runPgbench } from './baselines/pgbench.mjs';
import { runLoad } from './load/run-load.mjs';
import { openCampaign } from './stage/participants.mjs';
import { startService } from './stage/service.mjs';

const BASELINE = 'bench_baseline';
const CONNECTIONS = 64;
const PARTICIPANTS = 500;

/** One run: a server, the services that scenarios ask for, and how long everything is measured. */
export class Bench {
  services = new Map();
  campaigns = new Map();
  /** The kinds of requests that each service is warm for. */
  warm = new WeakMap();

  constructor(server, options) {
    this.server = server;
    this.options = options;
    this.baseline = { server, database: BASELINE };
  }

  async open() {
    await this.server.createDatabase(BASELINE);
    await this.server.query(BASELINE, readFileSync(new URL('./baselines/tables.sql', import.meta.url), 'utf8'));
  }

  /** The service on a database of its own, started when the first scenario asks for it. `prepare` may fill the database. */
  async service(name, environment = { WORKERS: 'auto' }, prepare = () => undefined, start = startService) {
    const known = this.services.get(name);
    if (known !== undefined) return known;
    const database = `bench_${name}`;
    await this.server.createDatabase(database);
    await prepare(this.server, database, environment);
    const service = await start(this.server, database, environment);
    this.services.set(name, service);
    return service;
  }

  async stopService(name) {
    await this.services.get(name)?.stop();
    this.services.delete(name);
  }

  /** A campaign of that service with its participants. */
  async campaign(service) {
    const known = this.campaigns.get(service) ?? openCampaign(service, { participants: PARTICIPANTS });
    this.campaigns.set(service, known);
    return known;
  }

  /** Loads a service for the time of one measurement; the first time it is warmed up longer. */
  async load(service, job) {
    const { seconds, warmUpSeconds, load: tool } = this.options;
    const kinds = this.warm.get(service) ?? new Set();
    const warmUp = kinds.has(job.request.kind) ? warmUpSeconds : 2.5 * warmUpSeconds;
    this.warm.set(service, kinds.add(job.request.kind));
    const times = { connections: CONNECTIONS, warmUpSeconds: warmUp, seconds };
    return runLoad({ service, server: this.server, tool }, { ...times, ...job });
  }

  pgbench(script, options = {}) {
    return runPgbench(this.baseline, script, { clients: CONNECTIONS, seconds: this.options.seconds, ...options });
  }

  async close() {
    for (const service of this.services.values()) await service.stop();
    await this.server.stop();
  }
}
