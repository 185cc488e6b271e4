import path from 'node:path';
import { packTasks, refuseIncomplete, type PackTask } from '../../src/core/dialogue/collect';
import { colBenchProtocol } from '../../src/core/dialogue/protocol';
import { Prompts } from '../../src/core/dialogue/prompts';
import { openSimulator } from '../../src/core/dialogue/openSimulator';
import { evaluate } from '../../src/core/evaluation/evaluate';
import type { AgentFigures } from '../../src/core/evaluation/figureSchemas';
import { digestOf } from '../../src/core/evaluation/loop/record';
import { trained } from '../../src/core/evaluation/loop/trainingStage';
import { estimate, rate } from '../../src/core/evaluation/words';
import type { Grader } from '../../src/core/grading/grader';
import { readLocalFolder } from '../../src/core/model/local/folder';
import { openModel } from '../../src/core/model/spec';
import { Runs } from '../../src/core/training/runs';
import type { TrajectoryLog } from '../../src/core/trajectory/log';
import { wholeNumber, type CliContext, type CommandResult, type Install } from '../../src/cli/command';
import { say, table } from '../../src/cli/terminal';
import { jobsOption, modelOptions } from '../../src/cli/play';
import { openGrader, openLog, openShippedTrainer } from '../../src/cli/resources';
import { alternate, type JudgedRound, type RoundsOptions, type Seat, type Training } from './rounds';
import { readSeatRun, type SeatRun } from './seatRun';

interface Options {
  readonly agent: string;
  readonly collaborator: string;
  readonly tasks: readonly string[];
  readonly rounds: number;
  readonly rollouts: number;
  readonly out: string;
  readonly jobs?: number;
}

export const installBothSeats: Install = (program, perform) => {
  program
    .command('both-seats')
    .description(
      'train agent and collaborator in turn, each with the other as it is, and judge both with others; the same command continues',
    )
    .requiredOption('--agent <run.json>', 'a run of GRPO for the agent; its model is the start')
    .requiredOption('--collaborator <run.json>', 'the same for the collaborator')
    .requiredOption('--tasks <file...>', 'packs to judge on, which neither run trains on')
    .option('--rounds <n>', 'runs of each seat', wholeNumber('--rounds', 1), 2)
    .option('--rollouts <k>', 'dialogues per task when judging', wholeNumber('--rollouts', 1), 1)
    .option('--out <folder>', 'runs and dialogues', path.join('.tandem', 'both-seats'))
    .addOption(jobsOption())
    .action(perform(bothSeats));
};

async function bothSeats(options: Options, to: CliContext): Promise<CommandResult> {
  const out = path.resolve(options.out);
  const runs = {
    agent: await readSeatRun('agent', options.agent),
    collaborator: await readSeatRun('collaborator', options.collaborator),
  };
  const tasks = await packTasks(options.tasks, { signal: to.signal, onLeftOut: say });
  const train = await training(runs, out, to);
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await openLog(out, to.signal);
  try {
    const judged = await alternate({
      start: { agent: runs.agent.base, collaborator: runs.collaborator.base },
      rounds: options.rounds,
      train,
      judge: await judging(runs.agent, { tasks, grader, log, rollouts: options.rollouts }, to),
    });
    return { summary: { rounds: judged }, print: () => inWords(judged) };
  } finally {
    await log.close();
    await grader.close();
  }
}

async function training(
  runs: Readonly<Record<Seat, SeatRun>>,
  out: string,
  to: CliContext,
): Promise<RoundsOptions['train']> {
  const trainer = await openShippedTrainer(to);
  const where = { runs: new Runs(out), trainer, prompts: path.join(to.assets, 'prompts') };
  return async (training: Training) => {
    const { seat, round, base, partner } = training;
    const configuration = await runs[seat].configuration(training);
    const weights = [base, partner].map((folder) => readLocalFolder(folder).fingerprint);
    const name = `Round ${round}, ${seat}`;
    say(`${name}: learns with ${partner}`);
    const { model } = await trained({
      ...{ ...where, configuration, name, signal: to.signal },
      key: `both-seats-${round}-${seat}-${digestOf([configuration.forTrainer, weights])}`,
    });
    return model;
  };
}

interface Judging {
  readonly tasks: readonly PackTask[];
  readonly rollouts: number;
  readonly grader: Grader;
  readonly log: TrajectoryLog;
}

/** @param agentRun has the limits and the temperature of play */
async function judging({ play }: SeatRun, judging: Judging, to: CliContext): Promise<RoundsOptions['judge']> {
  const prompts = await Prompts.load(path.join(to.assets, 'prompts'));
  const { maxTurns, ...sampling } = play;
  return async ({ agent, simulator }) => {
    const models = {
      agent: openModel(agent, modelOptions(to)),
      simulator: openSimulator(simulator, prompts, modelOptions(to)),
    };
    say(`Judges ${agent} with ${simulator}`);
    try {
      const evaluation = await evaluate({
        ...{ ...judging, prompts, sampling, signal: to.signal },
        agents: [models.agent],
        simulator: models.simulator,
        protocol: { maxTurns, replyLimit: colBenchProtocol.replyLimit },
        ...{ mode: 'fixed', seed: 0, concurrency: 16 },
      });
      const [{ figures, collection }] = evaluation.agents as [(typeof evaluation.agents)[number]];
      refuseIncomplete(collection);
      return figures;
    } finally {
      await models.agent.close?.();
      await models.simulator.close?.();
    }
  };
}

function inWords(rounds: readonly JudgedRound[]): string {
  const row = (
    round: number,
    who: string,
    { success, testsPassed, leakRate, missedDecisions }: AgentFigures,
  ) => [
    ...[String(round), who, estimate(success), estimate(testsPassed), rate(leakRate)],
    missedDecisions?.toFixed(2) ?? '–',
  ];
  const head = ['round', 'who plays', 'success', 'tests passed', 'leaked', 'decisions missed'];
  const body = rounds.flatMap(({ round, agent, collaborator, together }) => [
    row(round, 'agent with the rules', agent),
    row(round, 'collaborator with the agent of the start', collaborator),
    row(round, 'both together', together),
  ]);
  return `${table([head, ...body])}\nIn brackets: 95 % intervals (Wilson over tasks).`;
}
