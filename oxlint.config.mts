import path from 'node:path';
import { defineConfig, type OxlintOverride } from 'oxlint';
import { doors, shellFolders, views } from './scripts/lint/editorTiers.mjs';

/** Folders of `src/core`, and the others of them that each may import (docs/architecture.md). */
const below: Record<string, readonly string[]> = {
  task: [],
  page: [],
  rendering: ['page'],
  model: ['task', 'page'],
  grading: ['task', 'page'],
  trajectory: ['task'],
  testing: [],
  serving: [],
  modelServer: ['serving', 'model', 'task'],
  dialogue: ['model', 'grading', 'trajectory', 'task', 'page'],
  training: ['dialogue', 'model', 'grading', 'trajectory', 'task'],
  evaluation: ['training', 'dialogue', 'model', 'grading', 'trajectory', 'task', 'page'],
  tools: ['evaluation', 'training', 'dialogue', 'model', 'grading', 'trajectory', 'task'],
  erasure: ['training', 'trajectory'],
  publish: ['training', 'trajectory', 'task'],
  environment: [
    ...['serving', 'evaluation', 'training', 'dialogue', 'model', 'grading', 'trajectory', 'task', 'page'],
  ],
};

/** Forbids imports of these folders, which begin with `../`. */
const folders = (names: readonly string[], message: string) => ({
  regex: `^\\.\\./(.*/)?(${names.join('|')})/`,
  message,
});

const vscode = { name: 'vscode', message: 'Only src/editor imports vscode.' };
const toolkit = {
  name: '@vscode/webview-ui-toolkit',
  message: 'Only webview/ui knows the component toolkit.',
};
const studies = folders(['experiments'], 'Nothing of the product imports a study.');
const source = { regex: '/src/', message: 'A webview imports nothing of src.' };
const outsideOfPages = {
  group: ['**/webview/**', '!**/webview/*/protocol'],
  message: 'Import only webview/<folder>/protocol.',
};
const outsideOfCore = [
  studies,
  folders(['views'], 'The core never imports the views.'),
  folders(['editor'], 'The core never imports the editor.'),
  folders(['cli'], 'The core never imports the command line.'),
  folders(['webview'], 'The core never imports the webview.'),
];
const outsideOfCli = [
  studies,
  folders(['editor'], 'The command line never imports the editor.'),
  outsideOfPages,
];
const outsideOfViews = [
  studies,
  folders(['editor', 'cli'], 'What pages show is made without the editor and the command line.'),
  outsideOfPages,
];
const outsideOfEditor = [
  studies,
  folders(['cli'], 'The editor never imports the command line.'),
  outsideOfPages,
  { regex: '/manifest/', message: 'package.json is written from src/editor/manifest; no bundle holds it.' },
];

/**
 * Forbids imports of other views and of doors.
 *
 * @param up how an import begins that leaves the folder
 */
const outsideOfTier = (tier: string, up = String.raw`(\.\./)+`) => {
  const forbidden = [...views.filter((view) => view !== tier), ...doors];
  const message = `editor/${tier} imports no view and no door: share it in the shell, or let app.ts hand it over.`;
  return [...outsideOfEditor, { regex: `^${up}(${forbidden.join('|')})(/|$)`, message }];
};

/** Only the last wall that fits a file stands, so each says everything that its files must not import. */
const wall = (
  files: string[],
  forbidden: { paths?: { name: string; message: string }[]; patterns: { message: string }[] },
): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', forbidden] },
});

const walls = [
  wall(['src/core/**'], { paths: [vscode], patterns: outsideOfCore }),
  ...Object.entries(below).map(([folder, allowed]) => {
    const others = Object.keys(below).filter((other) => other !== folder && !allowed.includes(other));
    const message = `core/${folder} may import only: ${allowed.join(', ') || 'nothing else of the core'}.`;
    const patterns = [...outsideOfCore, folders(others, message)];
    return wall([`src/core/${folder}/**`], { paths: [vscode], patterns });
  }),
  wall(['src/views/**'], { paths: [vscode], patterns: outsideOfViews }),
  wall(['src/cli/**'], { paths: [vscode], patterns: outsideOfCli }),
  wall(['src/editor/*.ts'], { patterns: outsideOfTier('shell', String.raw`\./`) }),
  wall(
    shellFolders.map((folder) => `src/editor/${folder}/**`),
    { patterns: outsideOfTier('shell') },
  ),
  ...views.map((view) => wall([`src/editor/${view}/**`], { patterns: outsideOfTier(view) })),
  wall([...doors.map((door) => `src/editor/${door}{.ts,/**}`), 'src/extension.ts'], {
    patterns: outsideOfEditor,
  }),
  wall(['webview/**'], { paths: [toolkit], patterns: [source] }),
  wall(['webview/ui/**'], { patterns: [source] }),
];

export default defineConfig({
  plugins: ['typescript', 'import'],
  jsPlugins: [path.join(import.meta.dirname, 'scripts/lint/linear.mjs')],
  // The rules of this category are not listed again below.
  categories: { correctness: 'error' },
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  rules: {
    // Types count too: two files that need each other are one idea.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'no-array-constructor': 'error',
    'no-case-declarations': 'error',
    'no-empty': 'error',
    'no-empty-function': 'error',
    'no-fallthrough': 'error',
    'no-prototype-builtins': 'error',
    'no-redeclare': ['error', { builtinGlobals: false }],
    'no-regex-spaces': 'error',
    'no-unexpected-multiline': 'error',
    'no-useless-assignment': 'error',
    'no-useless-constructor': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'prefer-rest-params': 'error',
    'prefer-spread': 'error',
    'preserve-caught-error': 'error',
    // Sorting by text is fine where only equality matters.
    'typescript/require-array-sort-compare': 'off',
  },
  overrides: [
    { files: ['**/*.js'], env: { node: true }, rules: { 'no-undef': 'error' } },
    {
      // The other JavaScript is CommonJS, and the build script's types are unchecked.
      files: ['**/*.{ts,mts,mjs}'],
      rules: {
        'typescript/adjacent-overload-signatures': 'error',
        'typescript/array-type': 'error',
        'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
        'typescript/ban-tslint-comment': 'error',
        'typescript/class-literal-property-style': 'error',
        'typescript/consistent-generic-constructors': 'error',
        'typescript/consistent-indexed-object-style': 'error',
        'typescript/consistent-type-assertions': 'error',
        'typescript/consistent-type-definitions': 'error',
        'typescript/consistent-type-imports': 'error',
        'typescript/dot-notation': 'error',
        'typescript/no-confusing-non-null-assertion': 'error',
        'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        'typescript/no-deprecated': 'error',
        'typescript/no-dynamic-delete': 'error',
        'typescript/no-empty-object-type': 'error',
        'typescript/no-explicit-any': 'error',
        'typescript/no-extraneous-class': 'error',
        'typescript/no-generated-empty-object-type': 'error',
        'typescript/no-inferrable-types': 'error',
        'typescript/no-invalid-void-type': 'error',
        'typescript/no-misused-promises': 'error',
        'typescript/no-mixed-enums': 'error',
        'typescript/no-namespace': 'error',
        'typescript/no-non-null-asserted-nullish-coalescing': 'error',
        'typescript/no-require-imports': 'error',
        'typescript/no-unnecessary-boolean-literal-compare': 'error',
        'typescript/no-unnecessary-condition': 'error',
        'typescript/no-unnecessary-template-expression': 'error',
        'typescript/no-unnecessary-type-arguments': 'error',
        'typescript/no-unnecessary-type-assertion': 'error',
        'typescript/no-unnecessary-type-constraint': 'error',
        'typescript/no-unnecessary-type-conversion': 'error',
        'typescript/no-unsafe-argument': 'error',
        'typescript/no-unsafe-assignment': 'error',
        'typescript/no-unsafe-call': 'error',
        'typescript/no-unsafe-enum-assignment': 'error',
        'typescript/no-unsafe-enum-comparison': 'error',
        'typescript/no-unsafe-function-type': 'error',
        'typescript/no-unsafe-member-access': 'error',
        'typescript/no-unsafe-return': 'error',
        'typescript/non-nullable-type-assertion-style': 'error',
        'typescript/only-throw-error': 'error',
        'typescript/prefer-find': 'error',
        'typescript/prefer-for-of': 'error',
        'typescript/prefer-function-type': 'error',
        'typescript/prefer-includes': 'error',
        'typescript/prefer-literal-enum-member': 'error',
        'typescript/prefer-nullish-coalescing': 'error',
        'typescript/prefer-promise-reject-errors': 'error',
        'typescript/prefer-reduce-type-parameter': 'error',
        'typescript/prefer-regexp-exec': 'error',
        'typescript/prefer-return-this-type': 'error',
        'typescript/prefer-string-starts-ends-with': 'error',
        'typescript/related-getter-setter-pairs': 'error',
        'typescript/require-await': 'error',
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        'typescript/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
        'typescript/unified-signatures': 'error',
        'typescript/use-unknown-in-catch-callback-variable': 'error',
      },
    },
    // What runs in the editor and on the command line reads texts that anybody may have written.
    { files: ['src/**', 'webview/**'], rules: { 'tandem/linear-regexp': 'error' } },
    ...walls,
  ],
});
