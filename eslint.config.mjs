import js from '@eslint/js';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** Which folders of `src/core` each folder may import, besides itself (docs/architecture.md). */
const coreFolders = [
  'scoreboard',
  'experiment',
  'loop',
  'training',
  'evaluation',
  'dialogue',
  'model',
  'grading',
  'trajectory',
  'task',
];
const below = {
  task: [],
  model: ['task'],
  grading: ['task'],
  trajectory: ['task'],
  dialogue: ['model', 'grading', 'trajectory', 'task'],
  evaluation: ['dialogue', 'model', 'grading', 'trajectory', 'task'],
  training: ['evaluation', 'dialogue', 'model', 'grading', 'trajectory', 'task'],
  loop: ['training', 'evaluation', 'dialogue', 'model', 'grading', 'trajectory', 'task'],
  experiment: ['loop', 'training', 'evaluation', 'dialogue', 'model', 'grading', 'trajectory', 'task'],
  scoreboard: ['loop', 'training', 'evaluation', 'dialogue', 'model', 'grading', 'trajectory', 'task'],
};

const zone = (target, from, message) => ({ target, from, message });

const walls = [
  zone('./src/core', './src/editor', 'The core never imports the editor.'),
  zone('./src/core', './src/cli', 'The core never imports the command line.'),
  zone('./src/core', './webview', 'The core never imports the webview.'),
  zone('./src/cli', './src/editor', 'The command line never imports the editor.'),
  zone('./src/cli', './webview', 'The command line never imports the webview.'),
  zone('./src/editor', './src/cli', 'The editor never imports the command line.'),
  ...Object.entries(below).flatMap(([folder, allowed]) =>
    coreFolders
      .filter((other) => other !== folder && !allowed.includes(other))
      .map((other) =>
        zone(
          `./src/core/${folder}`,
          `./src/core/${other}`,
          `core/${folder} may import only: ${allowed.join(', ') || 'nothing else of the core'}.`,
        ),
      ),
  ),
];

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      'scripts/workbench/node_modules/**',
      '.tandem/**',
      '.sample/**',
      'test-results/**',
    ],
  },
  js.configs.recommended,
  {
    // The scripts are plain JavaScript, because they run before anything is installed; their types are in JSDoc.
    files: ['**/*.ts', 'scripts/**/*.mjs'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-x': importX },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'import-x/no-restricted-paths': ['error', { zones: walls }],
    },
    settings: { 'import-x/resolver': { node: { extensions: ['.ts', '.js'] } } },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/editor/**', 'src/extension.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'vscode', message: 'Only src/editor imports vscode.' }] },
      ],
    },
  },
  {
    // What the editor and a webview share is the view's protocol file and nothing else.
    files: ['src/editor/**/*.ts', 'src/extension.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: 'webview/(?!\\w+/protocol$)', message: 'Import only webview/<folder>/protocol.' },
          ],
        },
      ],
    },
  },
  {
    files: ['webview/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '/src/', message: 'A webview imports nothing of src.' }] },
      ],
    },
  },
  {
    files: ['webview/**/*.ts'],
    ignores: ['webview/ui/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            { name: '@vscode/webview-ui-toolkit', message: 'Only webview/ui knows the component toolkit.' },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
        require: 'readonly',
        module: 'writable',
        __dirname: 'readonly',
        AbortSignal: 'readonly',
        performance: 'readonly',
        exports: 'writable',
      },
    },
  },
);
