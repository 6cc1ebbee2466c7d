import { deadlocksIn } from './server-log';

it('finds what PostgreSQL writes of a deadlock, at LOG and at ERROR, and nothing else', () => {
  const log = [
    '2026-01-02 03:04:05 UTC [7] LOG:  process 7 still waiting for ShareLock on transaction 8 after 50.1 ms',
    '2026-01-02 03:04:05 UTC [7] LOG:  process 7 detected deadlock while waiting for ShareLock on transaction 8',
    '2026-01-02 03:04:05 UTC [7] ERROR:  deadlock detected',
  ];
  expect(deadlocksIn(log.join('\n'))).toEqual(log.slice(1));
  expect(deadlocksIn('')).toEqual([]);
});
