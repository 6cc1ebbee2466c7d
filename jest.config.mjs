import { findChromium } from './test/support/jest/find-chromium.mjs';
import { SINGLE_SERVER_SPECS } from './test/support/jest/single-server-specs.mjs';

// Workers take it from here.
const chromium = findChromium();
if (chromium !== undefined) process.env.CHROMIUM_PATH = chromium;

/** Browsers, whole processes and long rounds: minutes of them, with a command of their own (docs/adr/0091). */
const SYSTEM_TESTS = ['browser', 'faults', 'processes', 'rounds'];
/** `npm test` leaves them out, `npm run test:system` runs them alone; without either a path of any file will do. */
const { SYSTEM_TESTS: systemTests = 'as others' } = process.env;

export default {
  testMatch:
    systemTests === 'alone'
      ? SYSTEM_TESTS.map((folder) => `<rootDir>/test/${folder}/**/*.spec.ts`)
      : ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  // What takes a minute by itself has commands of its own: `npm run test:faults` and `npm run test:fuzz`.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(systemTests === 'apart' ? SYSTEM_TESTS.map((folder) => `<rootDir>/test/${folder}/`) : []),
    // Without a browser they are left out, which global-setup.ts says; in CI they fail.
    ...(chromium === undefined && process.env.CI !== 'true' ? ['/test/browser/'] : []),
    // Needs a Citus cluster: `npm run test:citus`.
    ...(process.env.TEST_CITUS_URL === undefined ? ['/test/citus/'] : Object.keys(SINGLE_SERVER_SPECS)),
    ...(process.env.LONG_ROUNDS === undefined ? ['/test/(?:faults|fuzz)/long/'] : []),
  ],
  moduleFileExtensions: ['ts', 'js', 'json'],
  transform: {
    '\\.[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          target: 'es2022',
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  testEnvironment: '<rootDir>/test/support/jest/one-realm-environment.cjs',
  runtime: '<rootDir>/test/support/jest/shared-modules-runtime.cjs',
  testSequencer: '<rootDir>/test/support/jest/slow-ones-apart-sequencer.cjs',
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // More than the two cores there are at least: much of a test is waiting. System tests start processes that need cores.
  maxWorkers: systemTests === 'alone' ? 3 : 4,
  // Against hanging only, on the slowest machine: what must be answered in time is measured by the tests themselves.
  testTimeout: 300_000,
};
