import { CONNECTIONS_PER_PROCESS_MAX } from './connection-settings';

/** Why the service cannot work with its database, and what to do. Contains nothing of DATABASE_URL. */
interface Problem {
  /** SQLSTATEs, and error codes of Node.js. */
  readonly codes?: readonly string[];
  /** Pattern of the message, when the code is ambiguous or absent. */
  readonly message?: RegExp;
  readonly words: string;
}

/** The first match counts. */
const PROBLEMS: readonly Problem[] = [
  {
    codes: ['28P01'],
    words:
      'PostgreSQL rejected the user or the password. Check both in DATABASE_URL; write special characters of the password as %XX (@ is %40).',
  },
  {
    codes: ['28000'],
    message: /pg_hba\.conf.*(?:no encryption|SSL off)/,
    words:
      'PostgreSQL admits no such connection without TLS (no entry in pg_hba.conf). Add ?sslmode=verify-full to DATABASE_URL, or an entry for this user, database and machine to pg_hba.conf.',
  },
  {
    codes: ['28000'],
    message: /pg_hba\.conf/,
    words:
      'PostgreSQL admits no such connection (no entry in pg_hba.conf). Add an entry for this user, database and machine, and reload the server, or correct DATABASE_URL.',
  },
  {
    codes: ['28000'],
    words:
      'PostgreSQL has no such user, or it may not log in. Create it with LOGIN, or correct the user in DATABASE_URL.',
  },
  {
    codes: ['3D000'],
    words: 'The database that DATABASE_URL names does not exist. Create it (createdb), or correct its name.',
  },
  {
    codes: ['42501'],
    message: /permission denied for schema/,
    words:
      'The database user may not create tables in the schema "public". Make it the owner of the database, or run as the owner: GRANT ALL ON SCHEMA public TO its name.',
  },
  {
    codes: ['42501'],
    message: /permission denied for database/,
    words:
      'The database user may not create schemas in this database. Make it the owner of the database, or run as the owner: GRANT CREATE, TEMPORARY ON DATABASE … TO its name.',
  },
  {
    codes: ['42501'],
    words:
      'The database user lacks rights on tables that another user has made. Start with that user, or give the tables to this one (REASSIGN OWNED).',
  },
  {
    codes: ['53300'],
    words: `PostgreSQL has no connection left. Raise its max_connections (each process of the service opens up to ${CONNECTIONS_PER_PROCESS_MAX}), or start fewer processes.`,
  },
  {
    codes: ['08P01'],
    message: /unsupported startup parameter/,
    words:
      'The pooler refuses a parameter in the query of DATABASE_URL. Remove it there, or list it in ignore_startup_parameters of the pooler.',
  },
  { codes: ['57P03'], words: 'PostgreSQL is starting or stopping. Start the service once it is up.' },
  {
    codes: ['25006'],
    words: 'PostgreSQL takes no writes: it is a standby, or set to read-only. DATABASE_URL must lead to the primary.',
  },
  {
    message: /does not support SSL connections/,
    words:
      'DATABASE_URL asks for TLS, and PostgreSQL offers none. Set ssl = on there, or remove sslmode from DATABASE_URL.',
  },
  {
    codes: [
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
      ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    ],
    words:
      'The certificate of PostgreSQL is self-signed, or of an authority that this machine does not know. Name the file of the authority in DATABASE_URL: ?sslmode=verify-full&sslrootcert=/path/ca.pem.',
  },
  {
    codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    words: 'The certificate of PostgreSQL is not valid now. Renew it, or set the clock of this machine.',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    words:
      'The certificate of PostgreSQL is for another host. Use a host name in DATABASE_URL that the certificate has.',
  },
  {
    message: /client password must be a string/,
    words: 'PostgreSQL asks for a password, and DATABASE_URL holds none. Add it there.',
  },
];

/** Socket errors only: file errors have some of these codes too. */
const SOCKET_PROBLEMS: readonly Problem[] = [
  {
    codes: ['ECONNREFUSED', 'ENOENT'],
    words:
      'Nothing listens at the address of the database. Start PostgreSQL, or correct host and port in DATABASE_URL.',
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    words: 'The host of the database has no address. Correct it in DATABASE_URL, or see to the DNS of this machine.',
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    words: 'The host of the database cannot be reached. Correct it in DATABASE_URL, or see to network and firewall.',
  },
];

/** What is wrong with the database, and what to do; undefined for other and unknown errors. */
export function databaseProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, message } = error as { code?: unknown; syscall?: unknown; message: string };
  const isOfSocket = syscall === 'connect' || syscall === 'getaddrinfo' || error instanceof AggregateError;
  const problems = isOfSocket ? SOCKET_PROBLEMS : PROBLEMS;
  return problems.find((problem) => {
    const isCode = problem.codes === undefined || (typeof code === 'string' && problem.codes.includes(code));
    return isCode && (problem.message?.test(message) ?? true);
  })?.words;
}
