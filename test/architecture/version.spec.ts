import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/platform/config/version';

const read = (path: string): string => readFileSync(join(__dirname, '..', '..', path), 'utf8');

it.each<[string, () => unknown]>([
  ['package.json', () => JSON.parse(read('package.json')).version],
  ['package-lock.json', () => JSON.parse(read('package-lock.json')).version],
  ['the package in package-lock.json', () => JSON.parse(read('package-lock.json')).packages[''].version],
  ['the typed client', () => JSON.parse(read('clients/typescript/package.json')).version],
  ['the OpenAPI document', () => JSON.parse(read('docs/openapi.json')).info.version],
  ['the image', () => /^LABEL org\.opencontainers\.image\.version="([^"]+)"$/m.exec(read('Dockerfile'))?.[1]],
  ['the newest entry of CHANGELOG.md', () => /^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]],
])('the version of %s is that of the service', (_where, version) => {
  expect(version()).toBe(VERSION);
});
