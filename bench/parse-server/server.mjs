// parse-server as its documentation sets it up, with the deduplication by request id that it has. Its address goes to stdout.
import express from 'express';
import { ParseServer } from 'parse-server';

const { PARSE_DATABASE, PARSE_SOCKET_FOLDER, PARSE_USER } = process.env;

const parse = new ParseServer({
  appId: 'bench',
  masterKey: 'bench-master-key',
  serverURL: 'http://127.0.0.1:1/parse',
  // Its own reading of the address knows no unix sockets; what is named here wins.
  databaseURI: `postgres://${PARSE_USER}@localhost:5432/${PARSE_DATABASE}`,
  databaseOptions: { host: PARSE_SOCKET_FOLDER, max: 20 },
  idempotencyOptions: { paths: ['.*'], ttl: 300 },
  allowClientClassCreation: true,
  silent: true,
  verbose: false,
  logsFolder: null,
});
await parse.start();
const app = express().use('/parse', parse.app);
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
