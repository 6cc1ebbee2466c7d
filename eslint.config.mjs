import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** What only one file may do; everybody else asks that file. */
const oneHome = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Ask Clock what time it is (platform/values/clock.ts).',
  },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Ask Clock what time it is (platform/values/clock.ts).',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Read settings through platform/config/env.ts.',
  },
  {
    selector: "ImportDeclaration[source.value='@nestjs/common'] > ImportSpecifier[imported.name='Query']",
    message: 'Use @CheckedQuery() (platform/http/checked-query.decorator.ts): nothing else checks a query.',
  },
  { selector: 'ExportDefaultDeclaration', message: 'Export by name, so that a thing has one name everywhere.' },
];

const spreadLiteral = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the properties themselves: a literal that is spread only fills lines.',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      '.data/',
      'coverage/',
      'src/metadata.ts',
      'clients/typescript/src/schema.ts',
    ],
  },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      // DTOs and entities are shapes: plain objects stand for them, and no method of theirs is ever called.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // A new member of a closed union must be handled, or fail to pass.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 260, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 45, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', spreadLiteral, ...oneHome],
    },
  },
  {
    files: [
      'src/platform/values/clock.ts',
      'src/platform/config/env.ts',
      'src/platform/http/checked-query.decorator.ts',
      'ormconfig.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', spreadLiteral] },
  },
  {
    // Whatever meets input takes time in proportion to it: no text keeps the one thread busy.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
  {
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      'no-restricted-syntax': ['error', spreadLiteral],
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
    },
  },
  {
    files: ['clients/typescript/**/*.ts'],
    languageOptions: { parserOptions: { project: './clients/typescript/tsconfig.json' } },
  },
  {
    files: ['console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat['recommended-latest']],
    languageOptions: { parserOptions: { project: './console/tsconfig.json' } },
    rules: {
      // Markup takes lines without being hard to read.
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ['console/src/api/service-clock.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
    rules: { 'no-restricted-syntax': ['error', spreadLiteral] },
  },
  {
    files: ['bench/**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['AbortSignal', 'fetch', 'performance', 'setInterval', 'clearInterval', 'setTimeout', 'URL'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
    rules: {
      'max-lines': ['error', { max: 260, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 45, skipBlankLines: true, skipComments: true }],
    },
  },
  prettier,
);
