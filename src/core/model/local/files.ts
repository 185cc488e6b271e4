import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Fault, messageOf } from '../../fault';
import { withoutEnd } from '../../text';

/** A JSON file of the folder. @throws {Fault} `model/damaged-folder` when it is none */
export function readJson(folder: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
  } catch (error) {
    throw damaged(path.join(folder, name), messageOf(error), error);
  }
}

/** A file of the folder is not what it should be. */
export function damaged(file: string, why: string, cause?: unknown): Fault {
  const reason = withoutEnd(why.replace(/\s+/g, ' '), '. ').slice(0, 300);
  return new Fault(
    'model/damaged-folder',
    `${file} cannot be used: ${reason}. Copy or export the model again.`,
    { cause },
  );
}
