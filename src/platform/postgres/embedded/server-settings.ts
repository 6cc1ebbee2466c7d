import { totalmem } from 'node:os';
import { CONNECTIONS_PER_PROCESS_MAX } from '../connection-settings';

export type ServerSettings = Readonly<Record<string, string>>;

/** Stands in the command line of every server that the service starts, which tells it from one started by a person. */
export const CLUSTER_NAME = 'campaign-data-service';

/** Of a server that a command has started, and that ends with it: no other process may count on it. */
export const COMMAND_SETTINGS: ServerSettings = { cluster_name: `${CLUSTER_NAME}-command` };

/** Beside the processes of the service: commands, and what PostgreSQL reserves. */
const FURTHER_CONNECTIONS = 20;
const CONNECTIONS_MIN = 200;

/** What so many processes of the service need of their server. */
export function settingsForProcesses(processes: number): ServerSettings {
  const needed = processes * CONNECTIONS_PER_PROCESS_MAX + FURTHER_CONNECTIONS;
  return { max_connections: String(Math.max(CONNECTIONS_MIN, needed)) };
}

/** Names the socket: nothing listens on a network. */
export const SERVICE_PORT = 5432;
/** Of a server whose data are being copied: tools that look for the service's database do not find this one. */
export const COPY_PORT = 5433;

const MIB = 2 ** 20;
const SHARED_BUFFERS_MIB = { min: 128, max: 2_048 };

/**
 * How the embedded server differs from PostgreSQL's defaults. They are given on the command line at every start, so an
 * existing database follows them too. What an acknowledged event rests on, `fsync` and `synchronous_commit`, is said
 * although it is the default.
 */
export const SERVER_SETTINGS: ServerSettings = {
  cluster_name: CLUSTER_NAME,
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  ...settingsForProcesses(1),
  shared_buffers: sharedBuffers(),

  // Event ids are random, so after a checkpoint nearly every insert writes a whole page to the WAL: compressed, and
  // with few checkpoints. These binaries are built without lz4 and zstd; pglz is always there.
  wal_compression: 'pglz',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',

  // Only an account that can enter the data folder (mode 0700) reaches the socket.
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  port: String(SERVICE_PORT),

  // The log never holds a value. The text of an ERROR can quote one, its DETAIL quotes keys, its STATEMENT parameters,
  // and the service gets each of them as an answer anyway: so the log begins at LOG, which ranks above ERROR here.
  // Waits and deadlocks are LOG entries that name processes and relations only.
  log_min_messages: 'log',
  log_lock_waits: 'on',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_statement: 'none',
};

/** For filling a new database, which is thrown away when that does not come to its end; it is put on disk afterwards. */
export const FILL_SETTINGS: ServerSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  // Rows of a table that was emptied in the same transaction are then not written to the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  maintenance_work_mem: '256MB',
  port: String(COPY_PORT),
};

/** For systems that refuse the amounts above: `initdb` tried out what they grant and wrote it to the configuration. */
export const SETTINGS_THAT_NEED_MEMORY = ['shared_buffers', 'max_connections'] as const;

/** The arguments of `postgres`. */
export function settingsAsArguments(settings: ServerSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * An eighth of the memory: the service and whatever else the machine is for need the rest. Pages of events' indexes are touched
 * at random, and each that does not fit is read, and another one written, for every event. Memory is taken as it is used.
 */
function sharedBuffers(): string {
  // 0, or more than there is, where nothing limits this process.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const { min, max } = SHARED_BUFFERS_MIB;
  return `${Math.min(Math.max(Math.floor(memory / 8 / MIB), min), max)}MB`;
}
