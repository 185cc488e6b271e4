import path from 'node:path';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { MB, readText } from '../../../regularFile';
import { writeAtomically, ifThere } from '../../../trajectory/files';
import { RunReader, type RunRecord } from '../experiment';
import { measuredRunsOf, type MeasuredRuns } from '../measuredRuns';
import type { Run, Runs } from '../../../training/runs';
import { pageOf, pictureOf, stagesOf } from './page';
import { percent } from '../../words';
import { barPicture } from '../../pictures/bars';
import { learningPicture } from '../../pictures/learning';

interface ReportPlan {
  readonly runs: Runs;
  readonly of: readonly Run[];
  /** Names of the runs, in their order, all different. */
  readonly names: readonly string[];
  /** Absolute; files inside may be named in the report. */
  readonly workspace: string;
}

/**
 * The pictures are in a folder beside the Markdown file. Only this file and the pictures of an earlier report are
 * overwritten or removed.
 */
export async function writeReport(file: string, { runs, of, names, workspace }: ReportPlan): Promise<void> {
  const read = await Promise.all(of.map(({ id }) => recordOf(runs, id)));
  const records = read.filter((record) => record !== undefined);
  const there = names.filter((_, index) => read[index] !== undefined);
  const measured = measuredRunsOf(records.map(({ kept }) => kept));
  const named = records.map(({ history }, index) => ({ name: there[index]!, history }));
  const pictures = [
    ...measured.map((one) => [pictureOf.success(one.setting), successPicture(one, there)] as const),
    ...stagesOf(records).map((stage) => [pictureOf.stage(stage), learningPicture(stage, named)] as const),
  ];
  const folder = await folderFor(
    file,
    pictures.map(([name]) => name),
  );
  const page = pageOf({ records, names: there, measured, workspace, pictures: folder });
  await writePictures(path.join(path.dirname(file), folder), pictures);
  await writeAtomically(file, (handle) => handle.writeFile(page));
}

async function recordOf(runs: Runs, id: string): Promise<RunRecord | undefined> {
  const reader = new RunReader(runs, id);
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
}

/** Last line of each picture; it tells the next report which files it may overwrite and remove. */
const MARK = '<!-- A picture of a report by Tandem, which writes over it. -->\n';

/**
 * `<report>-pictures` beside the report or, where a foreign file there has the name of a picture, the next of
 * `<report>-pictures-2`, `-3` … without such a file.
 * @param report the Markdown file
 * @param names file names of the pictures
 * @returns the folder's name
 */
async function folderFor(report: string, names: readonly string[]): Promise<string> {
  const first = `${path.basename(report, path.extname(report))}-pictures`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (await isFree(path.join(path.dirname(report), name), names)) return name;
  }
}

/** Also removes pictures of an earlier report that this one lacks. */
async function writePictures(
  folder: string,
  pictures: readonly (readonly [name: string, svg: string])[],
): Promise<void> {
  const names = new Set(pictures.map(([name]) => name));
  for (const name of (await ifThere(() => readdir(folder))) ?? []) {
    if (!names.has(name) && (await isOurs(path.join(folder, name)))) await rm(path.join(folder, name));
  }
  if (pictures.length > 0) await mkdir(folder, { recursive: true });
  for (const [name, svg] of pictures) {
    await writeAtomically(path.join(folder, name), (file) => file.writeFile(`${svg}\n${MARK}`));
  }
}

/** True if the folder is absent, or holds no foreign file under the name of a picture. */
async function isFree(folder: string, names: readonly string[]): Promise<boolean> {
  const there = await ifThere(() => lstat(folder));
  if (there === undefined) return true;
  if (!there.isDirectory()) return false;
  const theirs = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      return (await ifThere(() => lstat(file))) !== undefined && !(await isOurs(file));
    }),
  );
  return !theirs.includes(true);
}

/** Ours have a bounded number of points. */
const MAX_PICTURE_BYTES = 64 * MB;

async function isOurs(file: string): Promise<boolean> {
  if (!file.endsWith('.svg')) return false;
  const found = await lstat(file);
  if (!found.isFile() || found.size > MAX_PICTURE_BYTES) return false;
  return (await readText(file, MAX_PICTURE_BYTES)).endsWith(MARK);
}

function successPicture({ rows, setting }: MeasuredRuns, names: readonly string[]): string {
  return barPicture({
    title: 'Success on held-out tasks',
    subtitle: `${setting.title}, ${setting.tasks} tasks; the lines are 95 % intervals`,
    categories: rows.map(({ run, figures }) => (run === undefined ? `start: ${figures.agent}` : names[run]!)),
    series: [
      {
        name: 'success',
        bars: rows.map(({ figures: { success } }) =>
          success === null ? null : { value: success.mean, interval: success.interval },
        ),
      },
    ],
    format: percent,
  });
}
