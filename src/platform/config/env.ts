import { PATH_NAME } from '../values/text/path-name';
import { OIDC_SETTINGS } from './oidc-settings';
import {
  SettingFault,
  collectorAddress,
  commaList,
  databaseAddress,
  dnsServers,
  integer,
  matching,
  oneOf,
  optional,
  optionalText,
  origins,
  phoneRegion,
  processes,
  setting,
  textOr,
  variablesOf,
} from './setting-parsers';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

export const SETTINGS = {
  role: setting(
    'ROLE',
    'What this process does: api (serves HTTP), worker (processes events and does jobs) or all',
    oneOf(['all', 'api', 'worker'], 'all'),
  ),
  port: setting('PORT', 'TCP port to serve on; 0 takes a free one', integer(0, 65_535, 3000)),
  host: setting(
    'HOST',
    'Address to serve on (default 127.0.0.1 with the embedded database, else 0.0.0.0)',
    optionalText,
  ),
  workers: setting('WORKERS', 'Processes that serve on the one port, up to 64; auto: one per core', processes),
  workerCores: setting(
    'WORKER_CORES',
    'Where as many workers as cores run: own keeps each to one of them (Linux, by taskset), any leaves that to the system',
    oneOf(['own', 'any'], 'own'),
  ),
  databaseUrl: setting('DATABASE_URL', 'PostgreSQL 15 or newer to use instead of the embedded one', databaseAddress),
  workspacesPerCommit: setting(
    'WORKSPACES_PER_COMMIT',
    'auto: many, on a distributed database those of one shard; one: one, also on one PostgreSQL, to try there how that works',
    oneOf(['auto', 'one'], 'auto'),
  ),
  dataDir: setting('DATA_DIR', 'Folder of the embedded database and of secrets made at first start', textOr('./.data')),
  logLevel: setting(
    'LOG_LEVEL',
    'Least severe log lines to write',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], 'info'),
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Collector that traces are sent to, by OTLP/HTTP; unset: no traces',
    collectorAddress,
  ),
  migrateOnStart: setting(
    'MIGRATE_ON_START',
    'Whether a start brings the schema up to date; false: it waits for npm run migrate, and is not ready until then',
    oneOf(['true', 'false'], 'true'),
  ),
  bootstrapWorkspace: setting(
    'BOOTSTRAP_WORKSPACE',
    'Workspace that is made at start, with BOOTSTRAP_ADMIN_KEY or else a key that is shown once (default: default)',
    matching(PATH_NAME, 'must be 1 to 128 letters, digits, dots, dashes or underscores'),
  ),
  bootstrapAdminKey: setting(
    'BOOTSTRAP_ADMIN_KEY',
    'Admin key of that workspace, 32 to 200 printable characters without spaces; only its hash is stored',
    matching(/^[\x21-\x7e]{32,200}$/, 'must be 32 to 200 printable ASCII characters without spaces'),
  ),
  identityConflictPolicy: setting(
    'IDENTITY_CONFLICT_POLICY',
    'What happens to an event whose weaker identifier belongs to another customer: link (accept, warn) or reject (409)',
    oneOf(['link', 'reject'], 'link'),
  ),
  placeholderIdentities: setting(
    'PLACEHOLDER_IDENTITIES',
    'Further placeholder identifiers to refuse, separated by commas',
    commaList,
  ),
  defaultPhoneRegion: setting(
    'DEFAULT_PHONE_REGION',
    'Two-letter region (ISO 3166-1) of phone numbers without +; unset refuses them',
    phoneRegion,
  ),
  batchItemsMax: setting('BATCH_ITEMS_MAX', 'Most items in one batch', integer(1, 10_000, 1000)),
  batchBytesMax: setting(
    'BATCH_BYTES_MAX',
    'Most bytes in one batch body',
    integer(KIBIBYTE, 64 * MEBIBYTE, 5 * MEBIBYTE),
  ),
  bodyBytesMax: setting(
    'BODY_BYTES_MAX',
    'Most bytes in any other body',
    integer(KIBIBYTE, 16 * MEBIBYTE, 256 * KIBIBYTE),
  ),
  propertiesBytesMax: setting(
    'PROPERTIES_BYTES_MAX',
    'Most bytes in the attributes or properties of one event',
    integer(KIBIBYTE, MEBIBYTE, 64 * KIBIBYTE),
  ),
  laneBytesMax: setting(
    'LANE_BYTES_MAX',
    'Bytes of events that may wait for the database in one process, of one workspace three quarters; beyond it clients get 503',
    integer(MEBIBYTE, 4096 * MEBIBYTE, 64 * MEBIBYTE),
  ),
  connectionsMax: setting(
    'CONNECTIONS_MAX',
    'Open client connections in one process, idle ones too; a further one is closed at once',
    integer(1, 1_000_000, 10_000),
  ),
  heldBodiesBytesMax: setting(
    'HELD_BODIES_BYTES_MAX',
    'Bytes of request bodies that one process holds at a time, a quarter of them for one workspace; beyond it clients get 503',
    integer(32 * MEBIBYTE, 16_384 * MEBIBYTE, 256 * MEBIBYTE),
  ),
  unsentBytesMax: setting(
    'UNSENT_BYTES_MAX',
    'Bytes of answers in one process that clients have not read yet; beyond it connections are closed, the slowest first',
    integer(8 * MEBIBYTE, 4096 * MEBIBYTE, 128 * MEBIBYTE),
  ),
  unsentSecondsMax: setting(
    'UNSENT_SECONDS_MAX',
    'Seconds that a client may read nothing of its answer before its connection is closed',
    integer(1, 3600, 30),
  ),
  shutdownDelaySeconds: setting(
    'SHUTDOWN_DELAY_SECONDS',
    'Seconds from SIGTERM until no connection is taken any more: not ready meanwhile, and each answer ends its connection',
    integer(0, 5, 1),
  ),
  secretsKey: setting(
    'SECRETS_KEY',
    'Encrypts secrets that must be read back, 32 to 200 printable characters; unset: made in DATA_DIR with the embedded database',
    matching(/^[\x21-\x7e]{32,200}$/, 'must be 32 to 200 printable ASCII characters without spaces'),
  ),
  jwksAllowPrivate: setting(
    'JWKS_ALLOW_PRIVATE',
    'Whether key sets of JWT issuers may be fetched by http and from private addresses; for tests',
    oneOf(['true', 'false'], 'false'),
  ),
  jwksDnsServers: setting(
    'JWKS_DNS_SERVERS',
    "DNS servers that are asked for the hosts of key sets, separated by commas; unset: the system's",
    dnsServers,
  ),
  webhooksAllowPrivate: setting(
    'WEBHOOKS_ALLOW_PRIVATE',
    'Whether webhooks may be sent by http and to private addresses; for local trials',
    oneOf(['true', 'false'], 'false'),
  ),
  webhooksDnsServers: setting(
    'WEBHOOKS_DNS_SERVERS',
    "DNS servers that are asked for the hosts of webhooks, separated by commas; unset: the system's",
    dnsServers,
  ),
  rateLimitEventsPerSecond: setting(
    'RATE_LIMIT_EVENTS_PER_SECOND',
    'Events and mutations, or 16 KiB of bodies, that one credential may send in a second to one process; unset: any number',
    optional(integer(1, 1_000_000, 0)),
  ),
  rateLimitRuntimePerSecond: setting(
    'RATE_LIMIT_RUNTIME_PER_SECOND',
    'Runtime requests, or 16 KiB of bodies, that one participant may make in a second to one process; unset: any number',
    optional(integer(1, 1_000_000, 0)),
  ),
  rateLimitReadsPerSecond: setting(
    'RATE_LIMIT_READS_PER_SECOND',
    'Reads that one API key may make in a second of one process; each started 64 KiB of an answer counts as one; unset: any number',
    optional(integer(1, 1_000_000, 0)),
  ),
  authFailuresPerMinute: setting(
    'AUTH_FAILURES_PER_MINUTE',
    'Refused credentials per minute and network address that are answered 401; further ones get 429',
    integer(1, 1_000_000, 600),
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    'Reverse proxies in front of the service, whose X-Forwarded-For tells the address of the client; 0: none',
    integer(0, 10, 0),
  ),
  mutationRetentionDays: setting(
    'MUTATION_RETENTION_DAYS',
    'Days for which a mutation_id is known and its repetition answered with the first outcome',
    integer(1, 3650, 30),
  ),
  stateHistoryDays: setting(
    'STATE_HISTORY_DAYS',
    'Days for which the history of values is kept; 0 writes none',
    integer(0, 3650, 90),
  ),
  reactionLinkDays: setting(
    'REACTION_LINK_DAYS',
    'Days for which reactions to events of a customer without an EXTERNAL identifier wait for one; then they are skipped',
    integer(1, 365, 30),
  ),
  console: setting('CONSOLE', 'Whether the web console is served at /console: on or off', oneOf(['on', 'off'], 'on')),
  ...OIDC_SETTINGS,
  corsOrigins: setting(
    'CORS_ORIGINS',
    'Origins whose pages may call the runtime routes, separated by commas; * for any',
    origins,
  ),
  variablesPerScopeMax: setting(
    'VARIABLES_PER_SCOPE_MAX',
    'Most variables that a campaign may have declared in each scope; ten times as many names with archived ones',
    integer(1, 1000, 100),
  ),
  variableLimitStatus: setting(
    'VARIABLE_LIMIT_STATUS',
    'Status of variable_limit_exceeded: 409 or 403',
    oneOf(['403', '409'], '409'),
  ),
  contextViolationStatus: setting(
    'CONTEXT_VIOLATION_STATUS',
    'Status of context_violation: 403 or 409',
    oneOf(['403', '409'], '403'),
  ),
  reviewPayloadDays: setting(
    'REVIEW_PAYLOAD_DAYS',
    'Days that payloads of refused events are kept for replay',
    integer(1, 3650, 30),
  ),
  reviewClosedDays: setting(
    'REVIEW_CLOSED_DAYS',
    'Days that closed review entries (replayed, dismissed, superseded) are kept; open ones are kept until somebody closes them',
    integer(1, 3650, 90),
  ),
  reviewBytesPerDayMax: setting(
    'REVIEW_BYTES_PER_DAY_MAX',
    'Bytes that the review area keeps for a workspace in a day (UTC); beyond it problems are only counted; 0 keeps none',
    integer(0, 500 * 1024 * MEBIBYTE, 256 * MEBIBYTE),
  ),
} as const;

type ParsedSettings = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

/** Reads every setting; throws one `Error` that names every variable with a bad value (contract section 9). */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): ParsedSettings {
  const faults: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { variable, parse }]) => {
    try {
      return [name, parse(environment[variable] || undefined)];
    } catch (error) {
      if (!(error instanceof SettingFault)) throw error;
      faults.push(`${variable} ${error.message}`);
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw new Error(`Bad settings: ${faults.join('; ')}.`);
  return Object.fromEntries(entries) as ParsedSettings;
}

/**
 * The process's environment with the file `.env` below it; what is set in the environment wins. Throws `EnvironmentFileError`.
 */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.assign(process.env, { ...variablesOf('.env'), ...process.env });
}
