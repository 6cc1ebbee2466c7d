import { ClientFailure } from '../cli/running-service';
import { readOptions } from './options';

const KEY = 'an-admin-key-of-at-least-32-characters';

function failureOf(args: readonly string[], environment: Record<string, string>): ClientFailure {
  try {
    readOptions(args, environment);
  } catch (error) {
    if (error instanceof ClientFailure) return error;
  }
  throw new Error('No ClientFailure was thrown.');
}

describe('readOptions', () => {
  it('needs no more than a key', () => {
    expect(readOptions([], { CDS_API_KEY: ` ${KEY}\n` })).toEqual({
      url: 'http://127.0.0.1:3000',
      key: KEY,
      batch: 200,
      concurrency: 2,
    });
  });

  it('prefers what is said in the call', () => {
    const args = ['--url', 'https://cds.example:8443/base/', '--key', KEY, '--batch', '1000', '--concurrency=8'];
    expect(readOptions(args, { CDS_URL: 'http://elsewhere', CDS_API_KEY: 'another' })).toEqual({
      url: 'https://cds.example:8443/base',
      key: KEY,
      batch: 1_000,
      concurrency: 8,
    });
  });

  it('says how to get a key', () => {
    for (const environment of [{}, { CDS_API_KEY: ' ' }]) {
      const { exitCode, message } = failureOf([], environment);
      expect(exitCode).toBe(2);
      expect(message).toContain('when it starts for the first time');
      expect(message).toContain('BOOTSTRAP_ADMIN_KEY');
    }
  });

  it.each([
    ['--batch', '0'],
    ['--batch', '10001'],
    ['--batch', '1.5'],
    ['--concurrency', '65'],
    ['--url', 'localhost:3000'],
    ['--url', 'ftp://localhost'],
    ['--url', 'http://user:secret@localhost'],
    ['--key', 'kéy'],
    ['--speed', '9'],
    ['file.txt'],
    ['--url'],
  ])('refuses %s %s, and shows no secret', (...args) => {
    const { exitCode, message } = failureOf(args, { CDS_API_KEY: KEY });
    expect(exitCode).toBe(2);
    expect(message).not.toMatch(/secret|kéy/);
  });

  it('is asked for help without a key', () => {
    expect(readOptions(['--help'], {})).toBeUndefined();
  });
});
