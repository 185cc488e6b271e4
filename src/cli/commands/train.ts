import path from 'node:path';
import { readCluster, workerMemory } from '../../core/training/cluster';
import { readConfiguration } from '../../core/training/configuration';
import { placementOf, trainingCommand } from '../../core/training/launch';
import { Planner } from '../../core/training/planner';
import { Runs, type Run } from '../../core/training/runs';
import { planRun, prepareRun, startRun, type Preparing, type StartOptions } from '../../core/training/start';
import { ownEnvironment, type Trainer } from '../../core/training/trainer';
import { wholeNumber, wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { followRun } from './runs';
import { dataOption } from '../play';
import { dataInWords, planInWords, preparing } from '../runWords';
import { Progress, say } from '../terminal';
import { openShippedTrainer } from '../resources';

interface Options {
  readonly data: string;
  readonly follow?: boolean;
  readonly plan?: boolean;
  readonly printLaunch?: boolean;
  readonly nodes?: number;
}

/** The fields of `resources.cluster` that a plan needs; the trainer checks them all. */
interface ClusterFields {
  readonly address?: unknown;
  readonly workers?: unknown;
  readonly gpus_per_worker?: unknown;
}

export const installTrain: Install = (program, perform) => {
  program
    .command('train')
    .description(
      'start a run: prepare its data, check it and the machine, and launch the trainer, which then runs on its own',
    )
    .argument('<config>', 'the configuration, JSON; docs/training.md')
    .addOption(dataOption().default('.tandem', 'the data folder in which the run is made'))
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .option('--plan', 'show memory, time and the chosen settings, and start nothing')
    .option('--print-launch', 'prepare the run and write the command that trains it; nothing is launched')
    .option(
      '--nodes <n>',
      'the number of machines that train it together, with --print-launch',
      wholeNumber('--nodes', 1),
    )
    .action(perform(train));
};

async function train(config: string, given: Options, to: CliContext): Promise<CommandResult> {
  const { data, follow, plan, printLaunch, nodes } = given;
  if (nodes !== undefined && printLaunch !== true)
    throw wrongUse('--nodes goes with --print-launch: Tandem starts processes on this machine only.');
  const configuration = await readConfiguration(config);
  const { resources } = configuration.forTrainer as {
    readonly resources?: { readonly cluster?: ClusterFields };
  };
  if (nodes !== undefined && resources?.cluster != null)
    throw wrongUse('--nodes is for torchrun, but resources.cluster is set: leave out one of them.');
  const trainer = await openShippedTrainer(to);
  const runs = new Runs(data);
  const progress = new PreparingProgress();
  const options: StartOptions = {
    configuration,
    trainer,
    prompts: path.join(to.assets, 'prompts'),
    signal: to.signal,
    onProgress: (what, done, total) => progress.update(what, done, total),
  };
  if (plan === true) {
    const planned = await (resources?.cluster == null
      ? planRun(runs, options)
      : planForCluster(runs, options, resources.cluster));
    const taken = planned.selection === undefined ? [] : [dataInWords(planned.selection)];
    return {
      summary: planned,
      print: () => [...taken, planInWords(planned.plan)].join('\n'),
      failed: !planned.plan.fits,
    };
  }
  if (printLaunch === true) return printedLaunch(await prepareRun(runs, options), trainer, nodes ?? 1);
  const run = await startRun(runs, options);
  const started = [
    `The run ${run.id} has started: process ${run.process?.pid ?? '?'}, folder ${run.folder}.`,
    ...(run.selection === undefined ? [] : [dataInWords(run.selection)]),
  ].join('\n');
  if (follow === true) {
    say(started);
    return followRun(runs, run.id, to);
  }
  const next = `\`tandem runs ${run.id} --follow\` shows it, \`tandem stop ${run.id}\` stops it after a checkpoint.`;
  return { summary: run, print: () => `${started}\n${next}` };
}

const PORT = 29500;

const ABOUT_NODES = [
  '# On every machine, which must all see the folders that the line names: NODE_RANK is 0 on the first, 1 on the second …,',
  `# MASTER_ADDR the address of the first, on which the port ${PORT} is free.`,
];

/** As long as the trainer waits at first (`cluster/follow_job.py`). */
const DASHBOARD_MS = 20_000;

async function planForCluster(
  runs: Runs,
  options: StartOptions,
  { address, workers, gpus_per_worker }: ClusterFields,
): ReturnType<typeof planRun> {
  const at = typeof address === 'string' ? address : '';
  const cluster = await readCluster(at, { ...options, waitMs: DASHBOARD_MS });
  const asked = { workers: typeof workers === 'number' ? workers : 1, isOnGpu: gpus_per_worker === 1 };
  const planner = new Planner(options.trainer);
  try {
    return await planRun(runs, options, { planner, worker: workerMemory(cluster, asked) });
  } finally {
    planner.end();
  }
}

/** How to start a cluster for the command that follows the run's job, in comments of a shell. */
function aboutCluster({ python }: Trainer, line: string): readonly string[] {
  // The second command starts Ray by its name; the job of a run that is copied to the nodes starts Python by its name.
  const ray = `env PATH=${quoted(path.dirname(python))}:"$PATH" ray`;
  const together = (count: string): string =>
    `${ray} symmetric-run --address "$HEAD:6379" --min-nodes ${count} -- env ${line}`;
  return [
    '# All nodes must see the folders that the lines name. The last line follows the job, on any machine that reaches the cluster.',
    '# Machines of your own; the first line on the head, the second on each other node:',
    `#   ${ray} start --head --dashboard-host 0.0.0.0`,
    `#   ${ray} start --address HEAD:6379`,
    '# Slurm, in a batch script; it starts the cluster, trains and ends it, and the address is http://127.0.0.1:8265:',
    '#   HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
    `#   srun --ntasks-per-node 1 ${together('"$SLURM_NNODES"')}`,
    '# SkyPilot, as `run` of a task with num_nodes; the same:',
    '#   HEAD=$(echo "$SKYPILOT_NODE_IPS" | head -n 1)',
    `#   ${together('"$SKYPILOT_NUM_NODES"')}`,
  ];
}

async function printedLaunch(run: Run, trainer: Trainer, nodes: number): Promise<CommandResult> {
  const placement = await placementOf(run.folder);
  const { processes, isOnCluster } = placement;
  const several = { count: nodes, rank: '"$NODE_RANK"', address: '"$MASTER_ADDR"', port: PORT };
  const command = trainingCommand(trainer, run.folder, {
    ...placement,
    ...(nodes > 1 && { nodes: several }),
  });
  const set = Object.entries(ownEnvironment(trainer)).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  const line = [...set, ...command.map(quoted)].join(' ');
  const alone = `${counted(nodes, 'machine')} with ${counted(processes, 'process')} each (resources.processes)`;
  const about = [
    `# The run ${run.id} is prepared: ${isOnCluster ? 'a Ray cluster (resources.cluster)' : alone}.`,
    ...(isOnCluster ? aboutCluster(trainer, line) : nodes > 1 ? ABOUT_NODES : []),
    `# \`tandem runs ${run.id}\` tells how it stands; its events are in its folder.`,
  ];
  return {
    summary: { run, processes, nodes, launch: line },
    print: () => [...about, line].join('\n'),
  };
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : what.endsWith('s') ? 'es' : 's'}`;

/** A variable in double quotes is left as it is. */
const quoted = (word: string): string =>
  /^("\$\w+"|[\w./:@=,+-]+)$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

class PreparingProgress {
  private readonly bar = new Progress('data', 'trajectories');
  private doing: Preparing | undefined;

  update(what: Preparing, done?: number, total?: number): void {
    if (what !== this.doing) {
      if (this.doing === 'data') this.bar.end();
      this.doing = what;
      say(`${preparing[what]} …`);
    }
    if (done !== undefined && total !== undefined) this.bar.update(done, total);
  }
}
