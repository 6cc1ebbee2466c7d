import config from './jest.config.mjs';

/** These start the service. */
const WITH_SERVICE = ['/test/architecture/(?:docs-in-sync|route-declarations)\\.spec\\.ts$'];
/** PostgreSQL for all spec files, and the order of those that wait for it. */
const FOR_SERVICE = new Set(['globalSetup', 'globalTeardown', 'testSequencer']);

/** `npm run test:fast`: the specs that need neither PostgreSQL nor a running service. */
export default {
  ...Object.fromEntries(Object.entries(config).filter(([option]) => !FOR_SERVICE.has(option))),
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/architecture/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...WITH_SERVICE],
};
