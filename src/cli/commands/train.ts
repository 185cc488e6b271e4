import path from 'node:path';
import { readConfiguration } from '../../core/training/configuration';
import { Runs } from '../../core/training/runs';
import { planRun, startRun, type Preparing, type StartOptions } from '../../core/training/start';
import type { Install, Outcome, Surroundings } from '../command';
import { followRun } from '../following';
import { dataOption } from '../play';
import { dataInWords, planInWords } from '../runWords';
import { startProgress } from '../terminal';
import { openShippedTrainer } from '../trainer';

interface Options {
  readonly data: string;
  readonly follow?: boolean;
  readonly plan?: boolean;
}

export const installTrain: Install = (program, perform) => {
  program
    .command('train')
    .description(
      'start a run: prepare its data, check it and the machine, and launch the trainer, which goes on by itself',
    )
    .argument('<config>', 'the configuration, JSON; docs/training.md')
    .addOption(dataOption().default('.tandem', 'the data folder in which the run is made'))
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .option('--plan', 'say what fits, how long it takes and what is chosen, and start nothing')
    .action((config: string, options: Options) => perform((to) => train(config, options, to)));
};

async function train(config: string, { data, follow, plan }: Options, to: Surroundings): Promise<Outcome> {
  const configuration = await readConfiguration(config);
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
    const planned = await planRun(runs, options);
    const taken = planned.selection === undefined ? [] : [dataInWords(planned.selection)];
    return {
      summary: planned,
      print: () => [...taken, planInWords(planned.plan)].join('\n'),
      failed: !planned.plan.fits,
    };
  }
  const run = await startRun(runs, options);
  const started = [
    `The run ${run.id} has started: process ${run.process?.pid ?? '?'}, folder ${run.folder}.`,
    ...(run.selection === undefined ? [] : [dataInWords(run.selection)]),
  ].join('\n');
  if (follow === true) {
    process.stderr.write(`${started}\n`);
    return followRun(runs, run.id, to);
  }
  const next = `\`tandem runs ${run.id} --follow\` shows it, \`tandem stop ${run.id}\` stops it after a checkpoint.`;
  return { summary: run, print: () => `${started}\n${next}` };
}

const DOING: Readonly<Record<Preparing, string>> = {
  data: 'Taking the data from the log',
  checks: 'Checking configuration and machine',
  plan: 'Planning',
  launch: 'Launching the trainer',
};

class PreparingProgress {
  private readonly bar = startProgress('data', 'trajectories');
  private doing: Preparing | undefined;

  update(what: Preparing, done?: number, total?: number): void {
    if (what !== this.doing) {
      if (this.doing === 'data') this.bar.end();
      this.doing = what;
      process.stderr.write(`${DOING[what]} …\n`);
    }
    if (done !== undefined && total !== undefined) this.bar.update(done, total);
  }
}
