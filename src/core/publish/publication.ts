import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../fault';
import { MB, readText } from '../regularFile';
import { keptLocalOf } from '../training/data/lineage';
import { selectionReportSchema } from '../training/data/report';
import { readWhole, runFiles } from '../training/runFolder';
import { tellsOfKeptLocal } from '../trajectory/export/card';
import { isThere } from '../trajectory/files';
import { searchFile, type PublicationFinding } from './fileSearch';

interface PublicationFile {
  readonly file: string;
  /** Path in the repository, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** What was searched; an upload of anything else is refused. */
  readonly stamp: string;
}

export interface Publication {
  readonly kind: 'dataset' | 'model';
  readonly files: readonly PublicationFile[];
  readonly bytes: number;
  readonly findings: readonly PublicationFinding[];
  /**
   * Dialogues that people keep on this machine and that the model learned from, also by way of other runs; 0 for a
   * dataset.
   */
  readonly keptLocal: number;
}

/** The hub shows it as the repository's page. */
const CARD = 'README.md';

/**
 * Rows that `tandem export` wrote, with their card, or the folder of a model with its card. Rows went through consent
 * when they were exported; every file that goes up is searched for secrets once more, because it may have been changed
 * since. The rows of a run are refused: they went through no consent.
 * @throws {Fault} `publish/nothing` if it is neither, has no card, or holds what is no regular file; `publish/changed`
 */
export async function publicationOf(what: string, signal?: AbortSignal): Promise<Publication> {
  const there = await isThere(what);
  if (!there) throw nothing(`There is no ${what}: name exported rows, or a model's folder.`);
  return (await stat(what)).isDirectory() ? modelIn(what, signal) : rowsIn(what, signal);
}

const nothing = (why: string): Fault => new Fault('publish/nothing', why);

async function rowsIn(file: string, signal: AbortSignal | undefined): Promise<Publication> {
  const card = `${file}.md`;
  if (!(await isThere(card)))
    throw nothing(
      `${file} has no card ${path.basename(card)} beside it, so it is not what "tandem export" wrote: export the rows again, and publish that file.`,
    );
  for (const each of [file, card])
    if (!(await lstat(each)).isFile())
      throw nothing(
        `${each} is a link or no regular file: publish a file with exported rows, with its card.`,
      );
  // A run's rows have such a card, too; they are recognised by the report beside them, and elsewhere by the card.
  const report = path.join(path.dirname(file), path.basename(runFiles.selection));
  if (
    (await readWhole(report, selectionReportSchema())) !== undefined ||
    tellsOfKeptLocal(await readText(card, MB))
  )
    throw nothing(
      `${file} holds rows that a run learned from, which may be of people who keep their dialogues on this machine: export the dialogues with "tandem export", and publish that file.`,
    );
  const names = new Map([
    [path.basename(file), file],
    [CARD, card],
  ]);
  return publication('dataset', names, 0, signal);
}

async function modelIn(folder: string, signal: AbortSignal | undefined): Promise<Publication> {
  const found = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({
      name: path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
      isFile: entry.isFile(),
    }))
    .filter(({ name }) => !name.split('/').some((part) => part.startsWith('.')));
  const other = found.find(({ isFile }) => !isFile)?.name;
  if (other !== undefined) {
    const isLink = (await lstat(path.join(folder, other))).isSymbolicLink();
    throw nothing(
      `${path.join(folder, other)} is ${isLink ? 'a link, and what it leads to is not published' : 'no regular file'}: put a copy of the file in its place, or remove it.`,
    );
  }
  const names = found.map(({ name }) => name).sort();
  const lacks = ['config.json', CARD].find((name) => !names.includes(name));
  if (lacks !== undefined)
    throw nothing(
      lacks === CARD
        ? `${folder} has no ${CARD}: write one that says what the model is, what it learned from and its license.`
        : `${folder} holds no model (${lacks} is missing): name the folder "model" or "critic" of a run, or that of another model.`,
    );
  const files = new Map(names.map((name) => [name, path.join(folder, name)]));
  return publication('model', files, await keptLocalOf(folder), signal);
}

async function publication(
  kind: Publication['kind'],
  names: ReadonlyMap<string, string>,
  keptLocal: number,
  signal: AbortSignal | undefined,
): Promise<Publication> {
  const files: PublicationFile[] = [];
  const findings: PublicationFinding[] = [];
  for (const [name, file] of names) {
    const searched = await searchFile(file, name, signal);
    files.push({ file, path: name, bytes: searched.bytes, stamp: searched.stamp });
    findings.push(...searched.findings);
  }
  return { kind, files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), findings, keptLocal };
}
