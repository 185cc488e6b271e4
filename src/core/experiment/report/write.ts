import path from 'node:path';
import { writeAtomically } from '../../trajectory/files';
import { RunReader, type RunRecord } from '../experiment';
import { standingsOf } from '../standings';
import type { Run, Runs } from '../../training/runs';
import { pageOf, pictureOf, stagesOf } from './page';
import { folderFor, writePictures } from './pictureFolder';
import { learningPicture, successPicture } from './pictures';

export interface ReportPlan {
  readonly runs: Runs;
  readonly of: readonly Run[];
  /** Of the runs, in their order, all different. */
  readonly names: readonly string[];
  /** Absolute: what stands in it may be named. */
  readonly workspace: string;
}

/**
 * Writes the report of some runs into a Markdown file, with its pictures in a folder beside it. Of what is there, only
 * this file and the pictures of an earlier report are written over or removed.
 */
export async function writeReport(file: string, { runs, of, names, workspace }: ReportPlan): Promise<void> {
  const read = await Promise.all(of.map(({ id }) => recordOf(runs, id)));
  const records = read.filter((record) => record !== undefined);
  const there = names.filter((_, index) => read[index] !== undefined);
  const standings = standingsOf(records.map(({ kept }) => kept));
  const named = records.map(({ history }, index) => ({ name: there[index]!, history }));
  const pictures = [
    ...standings.map((one) => [pictureOf.standing(one.setting), successPicture(one, there)] as const),
    ...stagesOf(records).map((stage) => [pictureOf.stage(stage), learningPicture(stage, named)] as const),
  ];
  const folder = await folderFor(
    file,
    pictures.map(([name]) => name),
  );
  const page = pageOf({ records, names: there, standings, workspace, pictures: folder });
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
