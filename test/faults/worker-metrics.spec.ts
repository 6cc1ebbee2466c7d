import { aRequestApart, metricsApart, sendApart, workersOf } from '../support/worker-processes';
import { freshDatabaseUrl } from '../support/database';
import { Client } from '../support/client';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

const RECEIVED = 'cds_events_received_total{family="external"}';
const ACCEPTED = 'cds_events_total{family="external",outcome="accepted"}';
/** Connections are handed out in turn, so both workers answer some of so many. */
const LOOKS = 6;

let service: ServiceProcess;
let client: Client;

beforeAll(async () => {
  service = await startServiceProcess({ WORKERS: '2', DATABASE_URL: await freshDatabaseUrl('worker_metrics') });
  client = new Client(service.url, service.adminKey);
}, 120_000);
afterAll(() => service.stop());
