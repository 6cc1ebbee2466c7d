/** These packages are ESM only; Jest runs CommonJS, so swc transforms them like our own code. */
const esmPackages = ['@nestjs', 'uuid', 'libphonenumber-js', 'jose'];

export default {
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'json'],
  // The generated metadata and the client import files by the name that they have when they are built.
  moduleNameMapper: { '^(\\./(?:.*\\.(?:dto|query|controller)|[\\w-]+))\\.js$': '$1' },
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
  transformIgnorePatterns: [`/node_modules/(?!(?:${esmPackages.join('|')})/)`],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  maxWorkers: 2,
  testTimeout: 30_000,
};
