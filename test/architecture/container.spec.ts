import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/platform/config/env';

const ROOT = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Settings that only some processes have; the rest of the list is that of env.ts. */
const ROLE_SETTINGS = ['ROLE'];
/** Read by Node itself. */
const OF_NODE = ['NODE_ENV'];

const instructions = read('Dockerfile')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ line, name: line.split(' ')[0]!, rest: line.slice(line.indexOf(' ') + 1) }));
const all = (name: string): string[] => instructions.flatMap((each) => (each.name === name ? each.rest : []));
/** Those of the stage that becomes the image. */
const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));

describe('the Dockerfile', () => {
  it('begins from images of an exact version and digest', () => {
    const pinned = /^node:\d+\.\d+\.\d+-\w+(?:-slim)?@sha256:[0-9a-f]{64}(?: AS \w+)?$/;
    for (const image of all('FROM')) expect(image).toMatch(pinned);
    expect(new Set(all('FROM').map((image) => image.split(' ')[0])).size).toBe(1);
  });

  it('runs as a user who is not root, after the last copied file', () => {
    const names = last.map(({ name }) => name);
    expect(last.filter(({ name }) => name === 'USER').map(({ rest }) => rest)).toEqual(['node']);
    expect(names.lastIndexOf('COPY')).toBeLessThan(names.indexOf('USER'));
    expect(names).not.toContain('RUN');
  });

  it('has absolute folders, copies rather than adds, names no secret, and uses no other package manager', () => {
    for (const folder of all('WORKDIR')) expect(folder).toMatch(/^\//);
    expect(all('ADD')).toEqual([]);
    expect(read('Dockerfile')).not.toMatch(/PASSWORD|SECRET|_KEY|\bapt(?:-get)?\b|\bcurl\b|\bsudo\b/);
  });

  it('starts the program and its check without a shell, so that signals reach them', () => {
    expect(all('CMD')).toEqual(['["node", "dist/main.js"]']);
    const [check = ''] = all('HEALTHCHECK');
    const [program, script] = JSON.parse(check.slice(check.indexOf('['))) as [string, string];
    expect(program).toBe('node');
    expect(existsSync(join(ROOT, script))).toBe(true);
    expect(last.some(({ name, rest }) => name === 'COPY' && rest.includes(script))).toBe(true);
  });

  it('is checked at the port that the service takes: PORT, and 3000 where that is empty', () => {
    const fetch = 'data:text/javascript,globalThis.fetch = async (url) => (console.log(url), { ok: true })';
    const checked = (port: string): string =>
      execFileSync(process.execPath, ['--import', fetch, join(ROOT, 'scripts', 'healthcheck.mjs')], {
        encoding: 'utf8',
        env: { PORT: port },
      });
    expect(checked('4000')).toBe('http://127.0.0.1:4000/health/live\n');
    expect(checked('')).toBe('http://127.0.0.1:3000/health/live\n');
  });

  it('installs what the lock file says and leaves out development tools, and embedded PostgreSQL unless it is asked for', () => {
    const [install, , prune] = all('RUN');
    expect(install).toBe('npm ci --include=dev');
    expect(prune).toMatch(/else npm prune --omit=dev --omit=optional; fi/);
    expect(all('ARG')).toEqual(['EMBEDDED_POSTGRES=false']);
  });

  it('copies nothing that .dockerignore keeps out', () => {
    const letIn = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = all('COPY')
      .filter((rest) => !rest.includes('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    expect(copied.filter((path) => !letIn.includes(path.replace('./', '')))).toEqual([]);
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('sets only what the service knows', () => {
    const set = all('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=')[0]!));
    expect(unknown(set)).toEqual([]);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'), { merge: true });
  const ours = Object.entries<any>(services).filter(([name]) => name !== 'postgres');

  it('sets only what the service knows', () => {
    for (const [, { environment }] of ours) expect(unknown(Object.keys(environment))).toEqual([]);
  });

  it('migrates once, after the database is there and before anything else runs', () => {
    const { migrate } = services;
    expect(migrate.command).toEqual(['node', 'dist/main.js', 'migrate']);
    expect(migrate.restart).toBe('no');
    expect(migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    for (const [name, { depends_on: after, environment }] of ours) {
      if (name === 'migrate') continue;
      expect(after).toEqual({ migrate: { condition: 'service_completed_successfully' } });
      expect(environment.MIGRATE_ON_START).toBe('false');
    }
  });

  it('runs two processes for requests and one for the queue, and gives each the time that it takes to stop', () => {
    const roles = ours.flatMap(([, { environment }]) => environment.ROLE ?? []);
    expect(roles.sort()).toEqual(['api', 'api', 'worker']);
    for (const [, { stop_grace_period: grace, init }] of ours) {
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(10);
      expect(init).toBe(true);
    }
  });

  it('opens ports on this machine only', () => {
    const ports = Object.values<any>(services).flatMap((service): string[] => service.ports ?? []);
    expect(ports.sort()).toEqual(['127.0.0.1:3001:3000', '127.0.0.1:3002:3000']);
  });

  it('has images of an exact version and digest, or of its own, and its secrets from outside', () => {
    const pinned = /^postgres:\d+\.\d+-\w+@sha256:[0-9a-f]{64}$/;
    for (const { image } of Object.values<any>(services)) {
      expect(image).toMatch(image.startsWith('postgres') ? pinned : /^campaign-data-service:local$/);
    }
    const wanted = [...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    const offered = [...read('compose.env.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect([...new Set(wanted)].sort()).toEqual(offered.sort());
    for (const [, { environment }] of Object.entries<any>(services)) {
      const secrets = Object.entries<string>(environment).filter(([name]) => /PASSWORD|KEY|URL/.test(name));
      expect(secrets.filter(([, value]) => !value.includes('${'))).toEqual([]);
    }
  });
});

function unknown(variables: readonly string[]): string[] {
  const known = [...Object.values(SETTINGS).map(({ variable }) => variable), ...ROLE_SETTINGS, ...OF_NODE];
  return variables.filter((variable) => !known.includes(variable));
}
