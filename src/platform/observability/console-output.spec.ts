import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseError } from 'pg';
import { logConsoleOutput } from './console-output';
import { JsonLogger } from './logger';

it('is a line of the log that says what failed and who wrote it, and repeats none of its values', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const undo = logConsoleOutput(new JsonLogger('info', join(folder, 'log')));
  try {
    const error = new DatabaseError('duplicate key', 1, 'error');
    Object.assign(error, { code: '23505', detail: 'Key (value)=(jane@example.com) already exists.' });
    console.trace(error);
    console.error('attempt failed: jane@example.com', error);
    console.log('jane@example.com', { email: 'jane@example.com' });
  } finally {
    undo();
  }
  const text = readFileSync(join(folder, 'log'), 'utf8');
  rmSync(folder, { recursive: true });
  const lines = text.trim().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { context: 'Console', msg: 'A package wrote to the console: DatabaseError 23505.' },
    { context: 'Console', msg: 'A package wrote to the console: DatabaseError 23505.' },
    {
      context: 'Console',
      msg: 'A package wrote to the console.',
      stack: expect.stringContaining('console-output.spec'),
    },
  ]);
  expect(text).not.toContain('jane');
});
