/**
 * Who may know whom (ARCHITECTURE.md, arrows). A feature reaches another through its module, its service, its domain or its
 * DTOs; never through its repository, its SQL or its entities.
 */
const FEATURES = [
  'api-keys',
  'cdp',
  'console',
  'identity',
  'ingest',
  'jwt-issuers',
  'processing',
  'reactions',
  'replay',
  'retention',
  'review',
  'runtime',
  'service-credentials',
  'statistics',
  'variables',
  'webhooks',
  'workspaces',
];

/** The arrows between features; what is not here is not allowed. */
const ARROWS = {
  cdp: ['ingest', 'identity', 'review', 'runtime'],
  console: ['api-keys', 'ingest', 'review', 'workspaces'],
  ingest: ['identity', 'review'],
  processing: ['ingest', 'identity', 'review'],
  replay: ['ingest', 'processing', 'review'],
  retention: ['ingest', 'statistics'],
  reactions: ['ingest', 'processing', 'runtime', 'variables'],
  runtime: ['variables'],
  statistics: ['ingest'],
  webhooks: ['ingest', 'identity', 'processing', 'reactions', 'review', 'runtime', 'variables'],
  'jwt-issuers': ['workspaces'],
  workspaces: ['api-keys'],
};

/** Pure functions: `domain/`, and in `ingest/` what stands beside the step it belongs to. */
const RULES =
  '/domain/|^src/ingest/parse/(?!external-event-parser|event-parsers)|^src/ingest/(store/copies|log/timeline-range|queue/(queue-partition|processing-record))\\.';

const arrows = FEATURES.map((feature) => {
  const allowed = [feature, ...(ARROWS[feature] ?? [])].join('|');
  const others = FEATURES.filter((other) => !allowed.split('|').includes(other));
  return {
    name: `${feature}-reaches-only-its-arrows`,
    severity: 'error',
    from: { path: `^src/${feature}/` },
    to: { path: `^src/(${others.join('|')})/` },
  };
});

module.exports = {
  forbidden: [
    ...arrows,
    {
      name: 'platform-knows-no-feature',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/platform/' },
    },
    {
      name: 'no-back-doors-into-a-feature',
      comment: 'Repositories, SQL and entities belong to their feature alone.',
      severity: 'error',
      from: { path: `^src/(${FEATURES.join('|')})/` },
      to: {
        path: `^src/(${FEATURES.join('|')})/.*(entities/|repository\\.ts$|\\.sql\\.ts$)`,
        pathNot: '^src/$1/',
      },
    },
    {
      name: 'rules-are-pure',
      comment: 'Rules take everything as arguments: no framework, no database, no clock, no network.',
      severity: 'error',
      from: { path: RULES, pathNot: '\\.spec\\.ts$' },
      to: {
        path: 'node_modules/(@nestjs|typeorm|pg|express)|^(fs|http|net|timers|child_process)|^src/platform/(values/clock|config|postgres|group-commit|invalidation)',
        // A port may name the transaction that it is called in.
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'rules-know-no-services',
      severity: 'error',
      from: { path: RULES, pathNot: '\\.spec\\.ts$' },
      to: { path: '\\.(service|controller|module|repository|entity|dto|sql)\\.ts$' },
    },
    {
      name: 'nobody-knows-who-starts-them',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|cli/main\\.ts$|server/)' },
      to: { path: '^src/(main\\.ts$|app\\.module\\.ts$|server/(?!secrets-key))' },
    },
    {
      name: 'clients-are-clients',
      comment:
        'The demo, `cds events`, `cds state` and `cds webhooks` know the service by its HTTP interface. Bodies and signatures are those of the service.',
      severity: 'error',
      from: { path: '^src/(demo/|cli/(events/|state/|webhooks/|running-service|service-options|foreign-data))' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(demo/|cli/(events/|state/|webhooks/|running-service|service-options|foreign-data|console|progress-bar|stopping|time-option|output-file|file-failures|standard-output|state-file|run-claim)|platform/(config|files|values/(timestamp|clock|ids|uuid))|webhooks/(domain/|delivery/signed-headers))',
      },
    },
    {
      name: 'only-programs-use-the-typed-client',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(demo|cli)/' },
      to: { path: '^clients/' },
    },
    {
      name: 'the-typed-client-knows-no-program',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^(src|test|bench)/' },
    },
    {
      name: 'programs-do-not-know-each-other',
      comment: 'The demo shares how `cds` reaches a running service, and how it writes.',
      severity: 'error',
      from: { path: '^src/(demo|cli)/' },
      to: {
        path: '^src/(demo|cli)/',
        pathNot: '^src/$1/|^src/cli/(running-service|service-options|foreign-data|progress-bar|standard-output)\\.ts$',
      },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'sources-know-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/metadata\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
