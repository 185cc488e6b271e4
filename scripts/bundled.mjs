// Bundles a TypeScript program of the repository and runs it with the same Node: benchmarks and studies.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { root } from './setup/project.mjs';

/** esbuild starts a program that lies beside it, so it cannot be bundled. */
const bundler = path.join(root, 'node_modules', 'esbuild');

/**
 * @param {string} entry the program's file
 * @param {readonly string[]} args for the program
 * @param {readonly string[]} nodeOptions
 * @returns {Promise<number>} its exit code
 */
export async function runBundled(entry, args, nodeOptions = []) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-bundled-'));
  try {
    const outfile = path.join(folder, 'program.mjs');
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
      // Modules that read files beside themselves cannot be bundled.
      external: ['onnxruntime-node', path.join(bundler, '*'), path.join(root, 'scripts', '*')],
      // Some packages are CommonJS and load Node's modules with `require`.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    });
    const child = spawn(process.execPath, ['--enable-source-maps', ...nodeOptions, outfile, ...args], {
      stdio: 'inherit',
    });
    // Ctrl+C also reaches the program, which decides how to end; this process waits for it.
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    return await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
