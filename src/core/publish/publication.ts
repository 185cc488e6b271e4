import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Fault } from '../fault';
import { keptLocalOf } from '../training/data/lineage';
import { selectionReportSchema } from '../training/data/report';
import { readWhole, runFiles } from '../training/runFolder';
import { tellsOfKeptLocal } from '../trajectory/export/card';
import { isThere } from '../trajectory/files';
import { textsOf } from '../trajectory/findings/scanner';
import { maskedExcerpt, spansIn, type Span } from '../trajectory/findings/spans';

interface PublicationFile {
  readonly file: string;
  /** Path in the repository, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

/** A secret or an e-mail address, masked. */
interface PublicationFinding {
  readonly path: string;
  /** From 1; absent in a JSON file, which is searched as a whole. */
  readonly line?: number;
  readonly what: string;
  readonly excerpt: string;
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
/** Larger text files are vocabularies, not written by a person. */
const MAX_TEXT_BYTES = 1024 * 1024;
const TEXTS = /\.(?:md|json|jinja|txt|ya?ml)$/;

/**
 * Rows that `tandem export` wrote, with their card, or the folder of a model with its card. Rows went through consent
 * when they were exported; secrets are searched for once more, because a file may have been changed since. The rows of
 * a run are refused: they went through no consent.
 * @throws {Fault} `publish/nothing` if it is neither, or has no card
 */
export async function publicationOf(what: string, signal?: AbortSignal): Promise<Publication> {
  const there = await isThere(what);
  if (!there)
    throw new Fault('publish/nothing', `There is no ${what}: name exported rows, or a model's folder.`);
  return (await stat(what)).isDirectory() ? modelIn(what, signal) : rowsIn(what, signal);
}

async function rowsIn(file: string, signal: AbortSignal | undefined): Promise<Publication> {
  const card = `${file}.md`;
  if (!(await isThere(card)))
    throw new Fault(
      'publish/nothing',
      `${file} has no card ${path.basename(card)} beside it, so it is not what "tandem export" wrote: export the rows again, and publish that file.`,
    );
  // A run's rows have such a card, too; they are recognised by the report beside them, and elsewhere by the card.
  const report = path.join(path.dirname(file), path.basename(runFiles.selection));
  if (
    (await readWhole(report, selectionReportSchema())) !== undefined ||
    tellsOfKeptLocal(await readFile(card, 'utf8'))
  )
    throw new Fault(
      'publish/nothing',
      `${file} holds rows that a run learned from, which may be of people who keep their dialogues on this machine: export the dialogues with "tandem export", and publish that file.`,
    );
  const files = [await asFile(file, path.basename(file)), await asFile(card, CARD)];
  return publication('dataset', files, 0, signal);
}

async function modelIn(folder: string, signal: AbortSignal | undefined): Promise<Publication> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((name) => !name.split('/').some((part) => part.startsWith('.')))
    .sort();
  const lacks = ['config.json', CARD].find((name) => !names.includes(name));
  if (lacks !== undefined)
    throw new Fault(
      'publish/nothing',
      lacks === CARD
        ? `${folder} has no ${CARD}: write one that says what the model is, what it learned from and its license.`
        : `${folder} holds no model (${lacks} is missing): name the folder "model" or "critic" of a run, or that of another model.`,
    );
  const files = await Promise.all(names.map((name) => asFile(path.join(folder, name), name)));
  return publication('model', files, await keptLocalOf(folder), signal);
}

async function asFile(file: string, name: string): Promise<PublicationFile> {
  return { file, path: name, bytes: (await stat(file)).size };
}

async function publication(
  kind: Publication['kind'],
  files: readonly PublicationFile[],
  keptLocal: number,
  signal: AbortSignal | undefined,
): Promise<Publication> {
  const findings: PublicationFinding[] = [];
  for (const file of files) {
    if (kind === 'dataset' && file.path !== CARD) findings.push(...(await findingsInDataset(file, signal)));
    else if (file.path.endsWith('.jsonl')) findings.push(...(await findingsInRows(file, signal)));
    else if (TEXTS.test(file.path) && file.bytes <= MAX_TEXT_BYTES)
      findings.push(...(await findingsIn(file)));
  }
  return { kind, files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), findings, keptLocal };
}

/** Searches the texts of each row and not its JSON, in which a secret may be escaped. */
async function findingsInRows(
  { file, path: name }: PublicationFile,
  signal: AbortSignal | undefined,
): Promise<PublicationFinding[]> {
  const findings: PublicationFinding[] = [];
  let line = 0;
  for await (const row of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    signal?.throwIfAborted();
    line += 1;
    const text = [...textsOf(parsed(row))].join('\n\n');
    for (const found of distinct(text, await spansIn(text))) findings.push({ path: name, line, ...found });
  }
  return findings;
}

/** A file that is one JSON value, as a log of Inspect AI, is searched as a whole. */
async function findingsInDataset(
  publication: PublicationFile,
  signal: AbortSignal | undefined,
): Promise<PublicationFinding[]> {
  const { file, path: name } = publication;
  const whole = name.endsWith('.json') ? parsed(await readFile(file, 'utf8')) : '';
  if (typeof whole === 'string') return findingsInRows(publication, signal);
  const text = [...textsOf(whole)].join('\n\n');
  return distinct(text, await spansIn(text)).map((found) => ({ path: name, ...found }));
}

/** Text that is not JSON stays as it is. */
function parsed(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch (error) {
    if (error instanceof SyntaxError) return row;
    throw error;
  }
}

async function findingsIn({ file, path: name }: PublicationFile): Promise<PublicationFinding[]> {
  const text = await readFile(file, 'utf8');
  const spans = await spansIn(text);
  return spans.map((span) => ({
    path: name,
    line: text.slice(0, span.start).split('\n').length,
    what: span.what,
    excerpt: maskedExcerpt(text, spans, span),
  }));
}

/** A row repeats earlier turns of its dialogue, so each secret counts once. */
function distinct(text: string, spans: readonly Span[]): { what: string; excerpt: string }[] {
  const values = new Map(spans.map((span) => [text.slice(span.start, span.end), span]));
  return [...values.values()].map((span) => ({ what: span.what, excerpt: maskedExcerpt(text, spans, span) }));
}
