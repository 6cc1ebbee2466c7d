import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonLogger } from './logger';

it('names what was logged without words, and repeats none of its values', () => {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'));
  try {
    const logger = new JsonLogger('info', join(folder, 'log'));
    logger.error(new TypeError('jane@example.com is taken'), 'Context');
    logger.warn({ email: 'jane@example.com' }, 'Context');
    const text = readFileSync(join(folder, 'log'), 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([
      { context: 'Context', msg: 'TypeError', stack: expect.stringContaining('logger.spec') },
      { context: 'Context', msg: 'A value of type object was logged.' },
    ]);
    expect(text).not.toContain('jane');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('ends nothing when a line cannot be written, as on a full disk', () => {
  // It may be read only.
  const file = openSync(__filename, 'r');
  try {
    const logger = new JsonLogger('info', file);
    for (let line = 0; line < 1_000; line += 1) expect(() => logger.log('x'.repeat(100), 'Context')).not.toThrow();
  } finally {
    closeSync(file);
  }
});
