import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Fault, messageOf } from '../../fault';
import { isTooDeep } from '../../json';
import { isUnfit, MB, readTextSync } from '../../regularFile';
import { withoutEnd } from '../../text';

/** The tokenizers of the largest vocabularies have 35 MB. */
export const MAX_MODEL_TEXT_BYTES = 256 * MB;

/** @throws {Fault} `model/damaged-folder` if the file cannot be read or parsed, or is nested too deeply */
export function readJson(folder: string, name: string): unknown {
  const file = path.join(folder, name);
  let value: unknown;
  try {
    value = JSON.parse(readTextSync(file, MAX_MODEL_TEXT_BYTES));
  } catch (error) {
    if (isUnfit(error)) throw error;
    throw damaged(file, messageOf(error), error);
  }
  if (isTooDeep(value)) throw damaged(file, 'it is nested too deeply');
  return value;
}

export function damaged(file: string, why: string, cause?: unknown): Fault {
  const reason = withoutEnd(why.replace(/\s+/g, ' '), '. ').slice(0, 300);
  return new Fault(
    'model/damaged-folder',
    `${file} cannot be used: ${reason}. Copy or export the model again.`,
    { cause },
  );
}

const isGguf = (name: string): boolean => name.toLowerCase().endsWith('.gguf');

/** The file may be given instead of a model folder, or lie in a folder without a configuration. */
export function onlyGguf(place: string): string | undefined {
  if (!existsSync(place)) return undefined; // also for a text that is not a path
  const found = statSync(place);
  if (found.isFile()) return isGguf(place) ? place : undefined;
  if (!found.isDirectory() || existsSync(path.join(place, 'config.json'))) return undefined;
  const name = readdirSync(place).sort().find(isGguf);
  return name === undefined ? undefined : path.join(place, name);
}

/** `not_gguf` in the trainer's model/files.py says the same. */
export const notGguf = (file: string): string =>
  `${file} is a GGUF file, the format of llama.cpp, and a model folder in Hugging Face format is needed: make one with \`tandem convert ${file} ${file.replace(/\.gguf$/i, '')}\`, or let llama.cpp serve the file (\`llama-server -m ${file}\`) and connect to it as to any server.`;
