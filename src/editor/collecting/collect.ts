import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { grouped } from '../../core/text';
import type { CollectionPlan, CollectionProgress, PackTask } from '../../core/dialogue/collect';
import { isProgram } from '../../core/task/task';
import type { Engine } from '../engine';
import { cancellable, type Report } from '../progress';
import type { Packs, ListedTask as TaskHeader } from '../packs';
import { refuseInRestrictedMode } from '../workspaceTrust';
import type { Extent } from './askExtent';
import { dialogues, roughly } from '../words';

const { t } = vscode.l10n;

/** Dialogues in flight: a model on this machine writes many in a batch, a server may refuse so many. */
const AT_ONCE = { here: 16, elsewhere: 4 };
const SEED = 0;

export const playsHere = ({ localPlaces, agentName }: Engine, agent = agentName): boolean =>
  localPlaces.some(({ spec }) => spec === agent);

export async function playersOf(
  engine: Engine,
  { agent = engine.agentName, simulator }: { readonly agent?: string; readonly simulator?: string } = {},
) {
  const { RulesSimulator } = await import('../../core/dialogue/simulator');
  return {
    ...(await engine.pageParts()),
    log: await engine.log(),
    agent: await engine.openAgent(agent),
    simulator: (await engine.openSimulator(simulator)) ?? new RulesSimulator(),
    prompts: await engine.prompts(),
    sampling: engine.samplingOf(agent),
    protocol: engine.protocol,
    seed: SEED,
    concurrency: playsHere(engine, agent) ? AT_ONCE.here : AT_ONCE.elsewhere,
    mode: engine.gradingMode,
  };
}

/**
 * Plays as `tandem collect` does. Dialogues from before a cancellation stay in the log.
 * @param all tasks that may be played
 * @param choose gets the dialogues of these two as `id#rollout`; undefined plays nothing
 * @returns also when the person cancelled or a dialogue failed; undefined when nothing was chosen
 * @throws {Fault} `editor/no-tasks`, and as `collect` when nothing was played
 */
export async function collectHere(
  engine: Engine,
  packs: Packs,
  all: readonly TaskHeader[],
  choose: (played: readonly string[]) => Extent<TaskHeader> | PromiseLike<Extent<TaskHeader> | undefined>,
): Promise<EndedCollection | undefined> {
  refuseInRestrictedMode(t('Nothing is played'));
  if (all.length === 0)
    throw new Fault('editor/no-tasks', t('There is no task to play: add a pack in the Tasks view first.'));
  const { collectionName, rendererOf } = await import('../../core/dialogue/collect');
  const parts = await playersOf(engine);
  const renderer = await rendererOf({ ...parts, tasks: await pagesIn(all) });
  const collection = collectionName('collection', { ...parts, renderer });
  const extent = await choose([...parts.log.collected(collection).keys()]);
  if (extent === undefined) return undefined;
  const title = t(
    '{0} plays with {1}',
    engine.calledBy(parts.agent.name),
    engine.calledBy(parts.simulator.name),
  );
  const ended = await cancellable(title, async (signal, report) => {
    const plan = {
      ...{ ...parts, collection, signal, rollouts: extent.rollouts },
      tasks: await wholeTasks(packs, extent.tasks),
      grader: await engine.grader(),
    };
    return { ...(await playAll(plan, report)), collection };
  });
  if (ended?.failure !== undefined) engine.report(ended.failure);
  return ended;
}

/** A fault before the first dialogue is thrown. */
async function playAll(plan: CollectionPlan, report: Report): Promise<Omit<EndedCollection, 'collection'>> {
  const { collect } = await import('../../core/dialogue/collect');
  const begun = performance.now();
  let progress: CollectionProgress = {
    ...{ total: plan.tasks.length * plan.rollouts, done: 0, already: 0 },
    ...{ failed: 0, inFlight: 0, graded: 0, solved: 0 },
  };
  const onProgress = (told: CollectionProgress): void => {
    progress = told;
    const { done, total, already } = told;
    const fraction = total === already ? 1 : (done - already) / (total - already);
    report(progressWords(told, (performance.now() - begun) / 1000), fraction);
  };
  try {
    const { failures } = await collect({ ...plan, onProgress });
    const [first] = failures;
    const failure =
      first === undefined ? undefined : t('{0} failed: {1}', grouped(progress.failed), first.message);
    return { ...progress, failure, isCancelled: false };
  } catch (error) {
    if (plan.signal?.aborted === true) return { ...progress, isCancelled: true };
    if (!(error instanceof Fault) || progress.done === progress.already) throw error;
    return { ...progress, failure: error.message, isCancelled: false };
  }
}

/** The web pages of these packs; each file is read once. */
async function pagesIn(headers: readonly TaskHeader[]): Promise<PackTask[]> {
  const { readTasks } = await import('../../core/task/pack');
  const files = new Set(headers.flatMap(({ kind, pack }) => (kind === 'page' ? [pack] : [])));
  const pages: PackTask[] = [];
  for (const file of files) {
    for await (const read of readTasks(file)) {
      if ('task' in read && !isProgram(read.task)) pages.push({ task: read.task });
    }
  }
  return pages;
}

async function wholeTasks(
  packs: Packs,
  headers: readonly { readonly pack: string; readonly id: string }[],
): Promise<PackTask[]> {
  const tasks = await Promise.all(
    headers.map(async ({ pack, id }) => {
      const task = await packs.task(pack, id);
      return task === undefined ? [] : [{ task, pack: path.basename(pack) }];
    }),
  );
  return tasks.flat();
}

/** Dialogues before the time left is estimated; the first ones are played at once. */
const MIN_ENDED = 16;

export interface EndedCollection extends CollectionProgress {
  readonly collection: string;
  readonly isCancelled: boolean;
  /** Why dialogues failed, or why the rest was not tried. */
  readonly failure?: string;
}

export const isComplete = ({ done, total }: CollectionProgress): boolean => done === total;

/** For example `40 of 120 dialogues, 11 solved, about 2 min left`. */
export function progressWords(
  { done, total, already, failed, solved }: CollectionProgress,
  seconds: number,
): string {
  const [now, wanted] = [done - already, total - already];
  const left = (seconds / now) * (wanted - now - failed);
  return [
    t('{0} of {1} dialogues', grouped(now), grouped(wanted)),
    t('{0} solved', grouped(solved)),
    ...(failed === 0 ? [] : [t('{0} failed', grouped(failed))]),
    ...(now < MIN_ENDED || left <= 0 ? [] : [t('about {0} left', roughly(left, t))]),
  ].join(', ');
}

/**
 * @param name of the pack or the agent
 * @param all counts of the whole collection, where earlier dialogues belong to it
 */
export function endingWords(
  ended: EndedCollection,
  name: string,
  all?: { readonly graded: number; readonly successes: number },
): string {
  const { total, done, already, graded, solved, failure, isCancelled } = ended;
  const [now, wanted] = [done - already, total - already];
  if (wanted === 0)
    return t('These dialogues were already played. Choose more tasks, or more dialogues per task.');
  const played = isComplete(ended)
    ? t('{0} played', dialogues(now, t))
    : t('{0} of {1} played', grouped(now), dialogues(wanted, t));
  const first =
    graded === 0
      ? t('{0}: {1}.', name, played)
      : t('{0}: {1}, {2} of {3} solved.', name, played, grouped(solved), grouped(graded));
  return [
    first,
    ...(all === undefined || all.graded <= graded
      ? []
      : [t('Including earlier ones: {0} of {1} solved.', grouped(all.successes), grouped(all.graded))]),
    ...(isCancelled ? [t('You canceled the rest.')] : []),
    ...(failure === undefined ? [] : [failure]),
  ].join(' ');
}
export const showEnding = (
  { failure }: EndedCollection,
  words: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> =>
  failure === undefined
    ? vscode.window.showInformationMessage(words, ...buttons)
    : vscode.window.showWarningMessage(words, ...buttons);
