import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonLogger } from '../../src/platform/observability/logger';
import { leaks } from '../support/log-watch';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cds-log-watch-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each(['jane.roe@example.com', 'cds_0123456789', 'with "quotes" and \\ in it'])(
  'the watch over the logs of a test run finds %s in a line that holds it',
  (secret) => {
    const logger = new JsonLogger('trace', join(folder, '1.log'));
    appendFileSync(join(folder, '2.secrets'), `${JSON.stringify(secret)}\n${JSON.stringify('never logged')}\n`);
    logger.debug('nothing to see', 'Test');
    expect(leaks(folder)).toEqual({ lines: 1, secrets: 2, found: [] });
    logger.debug(`about ${secret}`, 'Test');
    expect(leaks(folder)).toEqual({ lines: 2, secrets: 2, found: [secret] });
  },
);
