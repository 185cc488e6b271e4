import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../fault';
import { lazily } from '../../lazily';
import { MB, readText } from '../../regularFile';
import { WORLDS } from '../../task/starter/splits';
import { ifThere, writeAtomically } from '../../trajectory/files';
import { comparisonsSchema } from './comparison';
import type { LoopResult } from './plan';

/** The part of a lesson's result that is shown again. */
const outcomeSchema = lazily(() =>
  z.object({
    /** The run's id, and the absolute path of its report. */
    run: z.string(),
    report: z.string(),
    comparisons: comparisonsSchema,
  }),
);

const lessonSchema = lazily(() =>
  z.object({
    version: z.literal(1),
    agent: z.string(),
    /** Lessons from before there were pages do not say it. */
    world: z.enum(WORLDS).default('functions'),
    seed: z.number().int(),
    size: z.enum(['brief', 'standard', 'thorough']),
    /** The lesson resumes by itself when the editor opens; false once a user has stopped it, or it is over. */
    isWanted: z.boolean(),
    outcome: outcomeSchema().optional(),
  }),
);

/** `teaching/<number>` in a data folder holds a lesson's tasks, record and report. */
export interface Lesson extends Omit<z.infer<ReturnType<typeof lessonSchema>>, 'version'> {
  /** From 1. */
  readonly number: number;
  /** Absolute. */
  readonly folder: string;
}

const FOLDER = 'teaching';
const FILE = 'lesson.json';

/** Undefined before the first lesson. @throws {Fault} `loop/bad-lesson` */
export async function lastLesson(dataFolder: string): Promise<Lesson | undefined> {
  const names = (await ifThere(() => readdir(join(dataFolder, FOLDER)))) ?? [];
  const numbers = names.flatMap((name) => (/^[1-9]\d{0,8}$/.test(name) ? [Number(name)] : []));
  for (const number of numbers.toSorted((a, b) => b - a)) {
    const folder = join(dataFolder, FOLDER, String(number));
    const file = join(folder, FILE);
    const text = await ifThere(() => readText(file, 16 * MB));
    if (text === undefined) continue;
    try {
      const { version: _, ...lesson } = lessonSchema().parse(JSON.parse(text));
      return { number, folder, ...lesson };
    } catch (cause) {
      const message = `${file} cannot be read (${messageOf(cause).split('\n')[0]!}). Delete it: another lesson can then be begun, and no dialogue is lost.`;
      throw new Fault('loop/bad-lesson', message, { cause });
    }
  }
  return undefined;
}

/** Its tasks are new: no earlier lesson had them. @param agent its name as in the settings */
export async function beginLesson(
  dataFolder: string,
  { agent, world, size }: Pick<Lesson, 'agent' | 'world' | 'size'>,
): Promise<Lesson> {
  const number = ((await lastLesson(dataFolder))?.number ?? 0) + 1;
  const folder = join(dataFolder, FOLDER, String(number));
  return keepLesson({ number, folder, agent, world, seed: number - 1, size, isWanted: true });
}

export async function keepLesson(lesson: Lesson): Promise<Lesson> {
  const { agent, world, seed, size, isWanted, outcome } = lesson;
  const text = `${JSON.stringify({ version: 1, agent, world, seed, size, isWanted, outcome }, undefined, 2)}\n`;
  await writeAtomically(join(lesson.folder, FILE), text);
  return lesson;
}

export const endLesson = (
  lesson: Lesson,
  { run, report, comparisons }: Pick<LoopResult, 'run' | 'report' | 'comparisons'>,
): Promise<Lesson> => keepLesson({ ...lesson, isWanted: false, outcome: { run, report, comparisons } });
