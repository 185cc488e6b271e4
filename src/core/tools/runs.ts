import path from 'node:path';
import * as z from 'zod';
import { canPlay, modelOf } from '../training/runFolder';
import { readConfigurationFile } from '../training/configuration';
import { stopRun as stop, finishRun } from '../training/lifecycle';
import { Runs, type Run } from '../training/runs';
import { Fault } from '../fault';
import { present } from '../text';
import { defineTool, isWithin, MAX_LISTED } from './tool';

const runName = z.string().min(1).describe('The id of the run, or a part that only one id has.');

export const listRuns = defineTool({
  title: 'List runs',
  about: 'Lists the training runs with their state and progress.',
  description:
    'Lists the training runs of this workspace, the newest first, with state, stage, step and time left; or one run with its latest figures, its data, and why it ended. A run that tandem_start_run has started is followed by calling this again, every half a minute or so. A run that is done and can play names its model, which tandem_collect and tandem_evaluate take as an agent.',
  effect: 'reads',
  asksModels: false,
  input: z.strictObject({ run: runName.optional() }),
  run: async ({ run }, { dataFolder }) => {
    const runs = new Runs(dataFolder);
    if (run !== undefined) return toldOf(await runs.find(run));
    const all = await runs.list();
    const shown = all.slice(0, MAX_LISTED);
    const lines = all.length === 0 ? [`There are no runs in ${runs.folder}.`] : shown.map(lineOf);
    if (all.length > shown.length) lines.push(`${all.length - shown.length} older runs are not listed.`);
    return { lines, data: { runs: shown.map(shortOf), total: all.length } };
  },
});

/** Input before defaults. */
export interface StartInput {
  readonly configuration: string | Readonly<Record<string, unknown>>;
}

export interface StopInput {
  readonly run: string;
  readonly finish?: boolean;
}

export const startRun = defineTool({
  title: 'Start a training run',
  about: 'Starts a training run on the dialogues of the log.',
  description:
    'Starts a training run of SWEET-RL or of a baseline on this machine: takes the data from the log, checks configuration and machine, and launches the trainer, which then runs on its own. Returns as soon as it is launched or queued behind another run; tandem_list_runs follows it, tandem_stop_run stops it. The smallest configuration is {"model": {"base": "<a folder or a name on the hub>"}, "data": {"log": ".tandem"}}; a field that does not fit is refused with a sentence that names it. The first run on a machine installs the trainer, which takes minutes and gigabytes.',
  effect: 'adds',
  asksModels: false,
  input: z.strictObject({
    configuration: z
      .union([z.string().min(1), z.looseObject({})])
      .describe('The path of a configuration file such as run.json, or the configuration itself.'),
  }),
  run: async ({ configuration: given }, at, call) => {
    const file = typeof given === 'string' ? path.resolve(at.folder, given) : undefined;
    // What refuses a configuration quotes it.
    if (file !== undefined && !(await isWithin(file, [at.folder, at.dataFolder])))
      throw new Fault(
        'tools/bad-input',
        `${file} is outside of ${at.folder}: copy the configuration into the folder, or give it itself.`,
      );
    const configuration = file === undefined ? given : await readConfigurationFile(file);
    const folder = file === undefined ? at.folder : path.dirname(file);
    const from = typeof given === 'string' ? given : 'The configuration';
    const run = await at.startRun({ configuration, from, folder }, call);
    if (run === undefined) return { lines: ['No run was started: the person declined.'], data: {} };
    return toldOf(run);
  },
});

export const stopRun = defineTool({
  title: 'Stop a training run',
  about: 'Stops a training run after a checkpoint, or ends it with the model that it has.',
  description:
    'Stops a training run after it has written a checkpoint, from which it can be resumed; returns when its trainer is gone, which may take a minute. With finish, the training of the policy ends after the present step instead, and the model that did best until then is written. A run that waits in the queue is taken out of it.',
  effect: 'interrupts',
  asksModels: false,
  input: z.strictObject({
    run: runName,
    finish: z.boolean().default(false).describe('End with the model of now instead of a checkpoint.'),
  }),
  run: async ({ run, finish }, { dataFolder }, { signal, report }) => {
    const runs = new Runs(dataFolder);
    const { id } = await runs.find(run);
    report(finish ? `Finishing ${id}` : `Stopping ${id}`);
    return toldOf(await (finish ? finishRun(runs, id, { signal }) : stop(runs, id, { signal })));
  },
});

function toldOf(run: Run): { lines: string[]; data: Record<string, unknown> } {
  const { selection, lastLines } = run;
  const lines = present([
    lineOf(run),
    selection &&
      `Data: ${selection.trajectories} dialogues of ${selection.tasks} tasks, ${selection.successes} successes.`,
    ...lastLines,
  ]);
  const { latest, heldOut } = run.progress ?? {};
  return { lines, data: { ...shortOf(run), selection, latest, heldOut } };
}

function lineOf(run: Run): string {
  const { id, name, method, base, state, message, progress } = run;
  const { stage, step, steps } = progress ?? {};
  return present([
    `${id}${name === '' ? '' : ` (${name})`}, ${method} on ${base}: ${state}`,
    stage && `, ${stage}`,
    step !== undefined && ` ${step}/${steps}`,
    message && `. ${message}`,
  ]).join('');
}

const LISTED = [
  ...(['id', 'folder', 'name', 'tags', 'note', 'method', 'base'] as const),
  ...(['state', 'request', 'isLive', 'canResume', 'message', 'startedAt', 'changedAt'] as const),
];

function shortOf(run: Run): Record<string, unknown> {
  const { stage, step, steps, secondsLeft } = run.progress ?? {};
  const listed = Object.fromEntries(LISTED.map((field) => [field, run[field]]));
  const model = canPlay(run) ? `local:${modelOf(run)}` : undefined;
  return { ...listed, stage, step, steps, secondsLeft, model };
}
