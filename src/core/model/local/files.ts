import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Fault, messageOf } from '../../fault';
import { isTooDeep } from '../../nesting';
import { withoutEnd } from '../../text';

/** @throws {Fault} `model/damaged-folder` if the file cannot be read or parsed, or is nested too deeply */
export function readJson(folder: string, name: string): unknown {
  const file = path.join(folder, name);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
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
