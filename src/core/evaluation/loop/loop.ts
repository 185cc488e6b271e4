import { join } from 'node:path';
import { collect, collectionName, refuseIncomplete } from '../../dialogue/collect';
import { PAGE_RULES_VERSION } from '../../dialogue/pageRules';
import { Prompts } from '../../dialogue/prompts';
import { simulatorWith } from '../../dialogue/openSimulator';
import { simulatorModel } from '../../dialogue/specification/specificationSpec';
import { RulesSimulator, type Simulator } from '../../dialogue/simulator';
import type { Grader } from '../../grading/grader';
import type { Model } from '../../model/model';
import { parseConfiguration, type RunConfiguration } from '../../training/configuration';
import { rowsLearnedBy } from '../../training/data/lineage';
import { writeGraphs, type Precision } from '../../training/convert';
import { runFiles } from '../../training/runFolder';
import { Runs } from '../../training/runs';
import { grouped } from '../../text';
import { claimIn } from '../../trajectory/claim';
import { TrajectoryLog } from '../../trajectory/log';
import { compareAgents, comparisonsSchema, type TrainedComparisons } from './comparison';
import { earlierLessons } from './earlierLessons';
import { successInWords } from '../report/loop';
import { hasGraph, isFile, isFilled, isOf, precisionOf, putInPlace } from './export';
import type { LoopPlan, LoopResult, StageProgress } from './plan';
import {
  digestOf,
  LoopRecord,
  type Stage,
  type StageName,
  collectedSchema,
  exportedSchema,
  reportedSchema,
  trainedSchema,
  type Collected,
  type Exported,
  type Reported,
  type TrainedRun,
} from './record';
import { writeReport } from './report/report';
import { percent } from '../words';
import { contentOf, drawTasks, hasPacks, loadPack, taskFiles, tasksResult, type TasksResult } from './tasks';
import { trained, trainingWork } from './trainingStage';

/**
 * Tasks, dialogues of the agent, training, a new model, play of both agents on tasks that neither has seen, a report.
 * A later call continues where the last one ended, and repeats nothing with unchanged inputs.
 * @throws {Fault} `loop/bad-record`, `loop/too-few-tasks`, `loop/not-trained`, and those of the parts
 */
export async function runLoop(plan: LoopPlan): Promise<LoopResult> {
  const claim = await claimIn(join(plan.folder, 'claims'), 'loop', `The loop in ${plan.folder}`);
  try {
    const loop = await Loop.open(plan);
    try {
      return await loop.run();
    } finally {
      await loop.close();
    }
  } finally {
    await claim.release();
  }
}

// The lines of stages that are done, or were done before.

function drawnInWords({ train, heldOut, badLines }: TasksResult): string {
  const bad = badLines === 0 ? '' : `; ${grouped(badLines)} lines hold no task`;
  return `${grouped(train)} to learn from, ${grouped(heldOut)} held out${bad}`;
}

const playedInWords = ({ dialogues, successes }: Collected): string =>
  `${grouped(dialogues)} dialogues, ${percent(successes / dialogues)} solved`;

const comparedInWords = ({ sampled, greedy }: TrainedComparisons): string =>
  `${successInWords('sampled', sampled)}; ${successInWords('greedy', greedy)}`;

class Loop {
  private readonly data: string;
  private readonly runs: Runs;
  private readonly simulator: Simulator;
  private readonly before: Model;
  private readonly stages: LoopResult['stages'][number][] = [];
  /** The same before and after, so that the two agents differ by the training alone. */
  private readonly precision: Precision;
  private after: Model | undefined;
  private grader: Promise<Grader> | undefined;

  private constructor(
    private readonly plan: LoopPlan,
    private readonly record: LoopRecord,
    private readonly log: TrajectoryLog,
    private readonly prompts: Prompts,
  ) {
    this.data = plan.data?.folder ?? plan.folder;
    this.runs = new Runs(this.data);
    this.before = plan.openModel(plan.agent.name);
    this.precision = precisionOf(plan.agent.graph);
    this.simulator =
      plan.simulator === 'rules'
        ? new RulesSimulator()
        : simulatorWith(plan.openModel(simulatorModel(plan.simulator)), plan.simulator, prompts);
  }

  static async open(plan: LoopPlan): Promise<Loop> {
    const record = await LoopRecord.open(plan.folder);
    const prompts = await Prompts.load(plan.prompts);
    const { folder, signal } = plan;
    const log = plan.data?.log ?? (await TrajectoryLog.open(folder, { signal }));
    return new Loop(plan, record, log, prompts);
  }

  async close(): Promise<void> {
    if (this.plan.data === undefined) await this.log.close();
    await this.before.close?.();
    await this.simulator.close?.();
    await this.after?.close?.();
  }

  async run(): Promise<LoopResult> {
    const { folder } = this.plan;
    const tasks = await this.perform(await this.tasks(), drawnInWords);
    const collected = await this.perform(this.collect(tasks), playedInWords);
    // Another round with a model that an earlier one made.
    const earlier = await rowsLearnedBy(this.plan.agent.base);
    const { run } = await this.perform(this.train(collected, earlier), (done) => `run ${done.run}`);
    const exported = ({ precision }: Exported): string => `the new model is in place, ${precision}`;
    const { precision } = await this.perform(this.export(run), exported);
    const model = this.modelOf(run);
    const comparisons = await this.perform(await this.evaluate(tasks, run), comparedInWords);
    const stages = [...this.stages];
    const { data } = this;
    const result = { folder, data, model, run, tasks, collected, comparisons, precision, stages };
    const { report } = await this.perform(this.report(result), (done) => done.report);
    return { ...result, report: join(folder, report), stages: this.stages };
  }

  private async perform<T>(stage: Stage<T>, say: (result: T) => string): Promise<T> {
    this.plan.signal?.throwIfAborted();
    const told = { stage: stage.name };
    const { result, isSkipped, seconds } = await this.record.perform(stage, (because) =>
      this.plan.onProgress?.({ ...told, state: 'begun', because }),
    );
    this.stages.push({ name: stage.name, isSkipped, seconds });
    this.plan.onProgress?.({ ...told, state: isSkipped ? 'skipped' : 'done', said: say(result), seconds });
    return result;
  }

  private async tasks(): Promise<Stage<TasksResult>> {
    const { folder, packs, world, settings, seed, signal } = this.plan;
    const { difficulty, trainTasks, heldOutTasks } = settings;
    return {
      name: 'tasks',
      inputs: {
        'the packs': await contentOf(packs, signal),
        'the seed': seed,
        'how many tasks are drawn': [trainTasks, heldOutTasks],
        'the difficulty': difficulty,
        ...(world !== 'functions' && { 'the world': world }),
      },
      result: tasksResult,
      isThere: (result) => hasPacks(folder, result),
      work: () => drawTasks(folder, packs, { world, settings, seed, signal }),
    };
  }

  private collect(tasks: TasksResult): Stage<Collected> {
    const { settings, seed, folder, pages, signal } = this.plan;
    const { rollouts, temperature, maxTokens, protocol, concurrency } = settings;
    const { before: agent, simulator, prompts, log } = this;
    const play = { agent, simulator, seed, protocol, prompts, sampling: { temperature, maxTokens } };
    const inputs = {
      'the tasks': tasks.content.train,
      'the dialogues per task': rollouts,
      'the agent, the collaborator or the rules of play': collectionName('', {
        ...play,
        renderer: this.plan.world === 'pages' ? 'none' : undefined,
      }),
    };
    // The training uses all of a collection, so a collection of other tasks, which may be held out now, must not be
    // continued.
    const collection = `loop-${digestOf(inputs)}`;
    return {
      name: 'collect',
      inputs,
      result: collectedSchema,
      work: async () => {
        await this.plan.openTrainer(); // finds out before the play, not after it, what the training lacks
        const played = await collect({
          ...{ ...play, pageProtocol: protocol, rollouts, concurrency, collection, pages, log, signal },
          tasks: await loadPack(join(folder, taskFiles.train)),
          grader: await this.openGrader(),
          mode: 'fixed',
          onProgress: ({ done, total, already }) =>
            this.working('collect', { what: 'plays', unit: 'dialogues', done, total, already }),
        });
        refuseIncomplete(played);
        const { total, successes } = log.count({ collection });
        return { collection, dialogues: total, successes };
      },
    };
  }

  private train(collected: Collected, earlier: readonly string[]): Stage<TrainedRun> {
    const { settings, seed, agent, prompts, runName, shownName, trainerCode, signal } = this.plan;
    const inputs = {
      'the dialogues': collected,
      'the model': this.before.fingerprint,
      'the settings of the training': settings.training,
      'the seed': seed,
      'the precision': this.precision,
      "the trainer's code": trainerCode,
      ...(earlier.length > 0 && { 'the earlier dialogues': earlier }),
    };
    return {
      name: 'train',
      inputs,
      result: trainedSchema,
      isThere: ({ run }) => isFilled(this.runModel(run)),
      work: async () => {
        const { run } = await trained({
          ...{ runs: this.runs, prompts, signal },
          configuration: await this.configuration(collected, earlier),
          key: `${runName}-${digestOf([inputs, agent.base]).slice(0, 8)}`,
          name: shownName,
          trainer: await this.plan.openTrainer(),
          onProgress: (progress) => this.working('train', trainingWork(progress)),
        });
        return { run: run.id };
      },
    };
  }

  private configuration({ collection }: Collected, earlier: readonly string[]): Promise<RunConfiguration> {
    const { agent, seed, settings } = this.plan;
    const { model, data, ...training } = settings.training;
    return parseConfiguration(
      {
        method: 'sweet-rl',
        ...{ seed, ...training },
        model: { base: agent.base, ...model },
        data: { ...data, earlier, log: this.data, filter: { collection } },
        export: { onnx: [this.precision] },
      },
      { from: 'The configuration of the loop', folder: this.data },
    );
  }

  private export(run: string): Stage<Exported> {
    const { precision } = this;
    const made = this.runModel(run);
    const { model: copy } = this.plan;
    return {
      name: 'export',
      inputs: { 'the run': run },
      result: exportedSchema,
      isThere: async () =>
        (await hasGraph(made, precision)) && (copy === undefined || (await isOf(run, copy))),
      work: async () => {
        await this.addGraph(made);
        if (copy !== undefined) await putInPlace({ run, model: made }, copy);
        return { precision };
      },
    };
  }

  /** Without a graph nothing can be measured. A run that failed to write it has kept its model, with a notice. */
  private async addGraph(folder: string): Promise<void> {
    if (await hasGraph(folder, this.precision)) return;
    this.working('export', { what: 'makes the graph' });
    const trainer = await this.plan.openTrainer();
    await writeGraphs(trainer, { folder, precisions: [this.precision], signal: this.plan.signal });
  }

  private async evaluate(tasks: TasksResult, run: string): Promise<Stage<TrainedComparisons>> {
    const { settings, seed, folder, pages, signal, title } = this.plan;
    const { temperature, maxTokens, protocol, concurrency, evaluationRollouts } = settings;
    const { before, simulator, prompts, log } = this;
    const after = (this.after = this.plan.openModel(`local:${this.modelOf(run)}`));
    const play = { seed, protocol, temperature, maxTokens, rollouts: evaluationRollouts };
    const heldOut = await loadPack(join(folder, taskFiles.heldOut));
    const now = { train: await loadPack(join(folder, taskFiles.train)), heldOut };
    const earlier = await earlierLessons(this.plan.agent.base, now, pages !== undefined);
    return {
      name: 'evaluate',
      inputs: {
        'the tasks': tasks.content.heldOut,
        'the agent before': [before.name, before.fingerprint],
        'the agent after': after.fingerprint,
        'the collaborator': [simulator.name, simulator.fingerprint, ...this.wordsOfPlay],
        'the rules of play': play,
        ...(earlier.length > 0 && { 'the earlier lessons': earlier }),
      },
      result: comparisonsSchema,
      work: async () =>
        compareAgents({
          ...{ before, after, simulator, prompts, log, ...play, concurrency, mode: 'fixed', signal },
          ...{ pages, pageProtocol: protocol },
          ...{ tasks: heldOut, earlier },
          ...{ title, run: join(this.runs.folder, run) },
          grader: await this.openGrader(),
          onProgress: (progress) =>
            this.working('evaluate', { what: 'plays', unit: 'dialogues', ...progress }),
        }),
    };
  }

  private report(result: Omit<LoopResult, 'report'>): Stage<Reported> {
    const { folder, packs, settings, seed, agent, simulator } = this.plan;
    const { run, tasks, collected, comparisons } = result;
    return {
      name: 'report',
      inputs: {
        'what is reported': [folder, run, tasks, collected, comparisons],
        'the settings': [packs, settings, seed, agent, simulator],
      },
      result: reportedSchema,
      isThere: ({ report }) => isFile(join(folder, report)),
      work: () => writeReport(result, this.plan, this.log),
    };
  }

  /** Versions of what an agent and the collaborator are told, and of what rules tell. */
  private get wordsOfPlay(): readonly unknown[] {
    const { versions, pageVersions } = this.prompts;
    return this.plan.world === 'pages' ? [pageVersions, PAGE_RULES_VERSION] : [versions];
  }

  private modelOf(run: string): string {
    return this.plan.model ?? this.runModel(run);
  }

  private runModel(run: string): string {
    return join(this.runs.folder, run, runFiles.model);
  }

  private openGrader(): Promise<Grader> {
    return (this.grader ??= this.plan.openGrader());
  }

  private working(stage: StageName, work: Omit<StageProgress, 'state'>): void {
    this.plan.onProgress?.({ stage, state: 'working', ...work });
  }
}
