import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from './env';
import { EnvironmentFileError, variablesOf } from './setting-parsers';

describe('a bad value is refused with the name of its variable, and not when it is first used', () => {
  it.each([
    // The password must be written with %23, %25, %2F or %3F.
    ['DATABASE_URL', 'postgresql://cds:pass#word@db/cds'],
    ['DATABASE_URL', 'postgresql://cds:pass/word@db/cds'],
    ['DATABASE_URL', 'postgresql://cds:pass?word@db/cds'],
    ['DATABASE_URL', 'postgresql://cds:100%@db/cds'],
    ['DATABASE_URL', 'postgresql://cds:100%zz@/cds?host=/var/run/postgresql'],
    ['DATABASE_URL', 'postgresql://cds:%ff@db/cds'],
    ['DATABASE_URL', 'postgresql://db:port/cds'],
    // Great Britain is GB.
    ['DEFAULT_PHONE_REGION', 'UK'],
    ['CORS_ORIGINS', 'https://shop.example.com:port'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:99999'],
  ])('%s=%s', (variable, value) => {
    const words = () => readSettings({ [variable]: value, PORT: 'x' });
    expect(words).toThrow(new RegExp(`PORT must .*${variable} must |${variable} must .*PORT must `));
    expect(words).not.toThrow(value);
  });
});

it.each([
  'postgresql://cds:pass%23word@db:5432/cds',
  'postgres://cds@/cds?host=/var/run/postgresql',
  'postgresql:///cds',
  'postgresql://cds:100%25@[::1]/cds?sslmode=verify-full',
])('DATABASE_URL=%s is accepted', (value) => {
  expect(readSettings({ DATABASE_URL: value }).databaseUrl).toBe(value);
});

it('origins are compared as browsers write them', () => {
  const { corsOrigins } = readSettings({
    CORS_ORIGINS: 'https://Shop.Example.com, https://a.example:443,http://b:80, *',
  });
  expect(corsOrigins).toEqual(['https://shop.example.com', 'https://a.example', 'http://b', '*']);
});

describe('.env', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'env-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read behind a byte order mark, and with the line ends of Windows', () => {
    const file = join(folder, '.env');
    writeFileSync(file, '\uFEFFPORT=4000\r\nROLE=api\r\n');
    expect(variablesOf(file)).toEqual({ PORT: '4000', ROLE: 'api' });
  });

  it('may be absent', () => {
    expect(variablesOf(join(folder, '.env'))).toEqual({});
  });

  it('that is a folder is named with what to do', () => {
    expect(() => variablesOf(folder)).toThrow(
      new EnvironmentFileError(
        `${folder} cannot be read (EISDIR). Let it be a file that this user can read, or remove it.`,
      ),
    );
  });
});
