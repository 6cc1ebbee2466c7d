// node embedded-postgres-child.cjs DATA_DIR
//
// A process that owns an embedded PostgreSQL until it is killed, or until its parent is gone. It writes one line:
// {"url", "pid"} or {"error"}. The sources are compiled as they are read, so no build has to come first.
const { readFileSync } = require('node:fs');
const process = require('node:process');
const { transformSync } = require('@swc/core');

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  module._compile(code, filename);
};

const { startEmbeddedPostgres } = require('../../src/platform/postgres/embedded/embedded-postgres');

function write(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

startEmbeddedPostgres({ dataDir: process.argv[2], log: () => undefined }).then(
  ({ url, pid }) => write({ url, pid }),
  (error) => write({ error: error.message }),
);
process.stdin.on('close', () => process.exit()).resume();
