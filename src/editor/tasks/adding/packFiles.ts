import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import { guidelinesOf } from '../../../core/task/guidelines';
import type { PackCheck } from '../../../core/task/pack';
import { isThere } from '../../../core/trajectory/files';

const { t } = vscode.l10n;

/** @throws {Fault} `editor/no-pack` when no line of it is a task; `task/*` when it cannot be read */
export async function checked(file: string): Promise<PackCheck> {
  const { checkPack } = await import('../../../core/task/pack');
  const check = await checkPack(file);
  if (check.tasks > 0) return check;
  const name = path.basename(file);
  const [first] = check.bad;
  throw new Fault(
    'editor/no-pack',
    first === undefined
      ? t('{0} is empty; a pack has one task per line.', name)
      : t('{0} is not a pack: none of its lines is a task. Line {1}: {2}', name, first.line, first.reason),
  );
}

/** Copies a pack and its guidelines. @returns the path of the copy */
export async function takeIn(file: string, folder: string): Promise<string> {
  const target = path.join(folder, path.basename(file));
  await copied(file, target);
  const guidelines = await guidelinesOf(file);
  if (guidelines !== undefined) {
    await copied(guidelines, path.join(folder, `${path.parse(file).name}.guidelines.md`));
  }
  return target;
}

/** Copies a file, unless the same file is there already. A different file of that name is not overwritten. */
async function copied(file: string, target: string): Promise<void> {
  const there = await likeness(file, target);
  if (there === 'the same') return;
  if (there === 'another') {
    throw new Fault(
      'editor/pack-exists',
      t('{0} already exists and is a different file; rename one of the two, then add it.', target),
    );
  }
  await copyTo(file, target);
}

export async function likeness(file: string, target: string): Promise<'none' | 'the same' | 'another'> {
  if (!(await isThere(target))) return 'none';
  return (await readFile(file)).equals(await readFile(target)) ? 'the same' : 'another';
}

/** @throws {Fault} `editor/pack-not-copied` */
export async function copyTo(file: string, target: string): Promise<void> {
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(file, target);
  } catch (error) {
    throw new Fault(
      'editor/pack-not-copied',
      t('{0} could not be copied here: {1}', path.basename(file), messageOf(error)),
      { cause: error },
    );
  }
}
