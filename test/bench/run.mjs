// Runs a benchmark: bundles test/bench/<name>/main.ts or test/bench/<name>.ts and runs it with the same Node.
//   node test/bench/run.mjs <name> [arguments of the benchmark]
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** It finds its own program beside it, so it stays where it is. */
const bundler = path.join(import.meta.dirname, '..', '..', 'node_modules', 'esbuild');

const [name, ...rest] = process.argv.slice(2);
const entry = [`${name}/main.ts`, `${name}.ts`]
  .map((file) => path.join(import.meta.dirname, file))
  .find((file) => existsSync(file));
if (entry === undefined) {
  console.error(`There is no benchmark ${name}. Usage: node test/bench/run.mjs <name> [arguments]`);
  process.exit(2);
}

const folder = await mkdtemp(path.join(tmpdir(), 'tandem-bench-'));
try {
  const outfile = path.join(folder, 'bench.mjs');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    sourcemap: 'inline',
    logLevel: 'warning',
    alias: { esbuild: path.join(bundler, 'lib', 'main.js') },
    // What finds its own files beside it stays where it is.
    external: [
      'onnxruntime-node',
      path.join(bundler, '*'),
      path.join(import.meta.dirname, '..', '..', 'scripts', '*'),
    ],
    // Some packages are CommonJS and ask for Node's modules with `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const nodeOptions = ['--expose-gc', '--enable-source-maps'];
  const child = spawn(process.execPath, [...nodeOptions, outfile, ...rest], { stdio: 'inherit' });
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
