import { OutageLog } from './outage-log';

describe('an outage', () => {
  it('is told of when it begins and when it is over, each time', () => {
    const told: string[] = [];
    const logger = { warn: (words: string) => told.push(`warn: ${words}`), log: (words: string) => told.push(words) };
    const outage = new OutageLog(logger, { began: 'It is away.', ended: 'It is back.' });
    outage.succeeded();
    for (const why of ['first', 'second']) outage.failed(why);
    for (let attempt = 0; attempt < 2; attempt += 1) outage.succeeded();
    outage.failed('third');
    expect(told).toEqual(['warn: It is away. first', 'It is back.', 'warn: It is away. third']);
  });
});
