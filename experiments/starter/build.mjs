// `npm run build:starter` makes the starter model of a world from scratch.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';

import esbuild from 'esbuild';

import { ensurePythonEnvironment } from '../../scripts/python.mjs';
import { run } from '../../scripts/setup/command.mjs';
import { commandLine } from '../../scripts/setup/options.mjs';
import { root } from '../../scripts/setup/project.mjs';
import { main, SetupFault, step } from '../../scripts/setup/steps.mjs';

/** The starter model of each world. width: of its layers. documents: number of documents that it learns from. */
const WORLDS = {
  functions: { documents: '48000', width: '128', folder: 'starter' },
  pages: { documents: '30000', width: '96', folder: 'starter-pages' },
  'twenty-questions': { documents: '26000', width: '64', folder: 'starter-questions' },
};

const help = `npm run build:starter [-- OPTIONS]

Lets the demonstrator play a starter world, trains the starter model on that, and writes it with its graphs for ONNX
Runtime. Takes about ten minutes on two cores, without AVX-512 22. The same commit gives the same files on the same
machine.

  --world WORLD   functions, pages or twenty-questions (functions)
  --documents N   how many documents it learns from (48000; of pages 30000, of twenty-questions 26000)
  --seed S        of the tasks and of the demonstrator (1)
  --out FOLDER    where it is written (media/starter; for the others media/starter-pages and media/starter-questions)`;

await main(async () => {
  const { values } = commandLine(
    {
      world: { type: 'string', default: 'functions' },
      documents: { type: 'string' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    help,
  );
  if (values.help) {
    console.log(help);
    return 0;
  }
  const named = Object.entries(WORLDS).find(([name]) => name === values.world);
  if (named === undefined) {
    throw new SetupFault(`There is no world "${values.world}": write ${Object.keys(WORLDS).join(' or ')}.`);
  }
  const { width, folder, ...world } = named[1];
  const count = values.documents ?? world.documents;
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'tandem-starter-'));
  try {
    const documents = path.join(temporary, 'documents.jsonl');
    await step(`Writing ${count} documents`, () =>
      demonstrate(temporary, documents, [values.world, count, values.seed]),
    );
    const python = await interpreter();
    await trained(python, documents, path.resolve(values.out ?? path.join(root, 'media', folder)), width);
    return 0;
  } finally {
    rmSync(temporary, { recursive: true });
  }
});

/**
 * @param {string} temporary
 * @param {string} documents the file to write
 * @param {readonly string[]} args world, number and seed
 */
async function demonstrate(temporary, documents, args) {
  const script = path.join(temporary, 'demonstrations.mjs');
  await esbuild.build({
    entryPoints: [path.join(root, 'experiments', 'starter', 'demonstrations.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
    logLevel: 'warning',
  });
  const file = openSync(documents, 'w');
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: ['ignore', file, 'inherit'] });
  closeSync(file);
  if (status !== 0) throw new SetupFault('The demonstrations could not be written; the reason stands above.');
}

/** @returns {Promise<string>} a Python with the trainer's packages */
async function interpreter() {
  const given = process.env.TANDEM_TRAINER_PYTHON ?? '';
  if (given !== '') return given;
  const requirements = path.join(root, 'trainer', 'tests', 'requirements.lock');
  return ensurePythonEnvironment('trainer-tests', requirements, (line) => console.log(line));
}

/** @param {string} python @param {string} documents @param {string} folder @param {string} width */
async function trained(python, documents, folder, width) {
  await inPython(['-m', 'starter.build', documents, folder, width], path.join(root, 'experiments'));
  const exporting = ['-m', 'tandem_trainer', 'onnx', folder, '--precision', 'fp32,int8'];
  await inPython(exporting, path.join(root, 'trainer'));

  /** @param {readonly string[]} args @param {string} cwd */
  async function inPython(args, cwd) {
    // Waiting threads sleep, which costs nothing and helps much when other processes compute.
    const status = await run(python, args, { cwd, env: { ...process.env, OMP_WAIT_POLICY: 'PASSIVE' } });
    if (status !== 0) throw new SetupFault(`${python} ${args.join(' ')} failed; the reason stands above.`);
  }
}
