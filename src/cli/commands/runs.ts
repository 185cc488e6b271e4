import { RunResults, type RunResult } from '../../core/evaluation/comparison/measuredRuns';
import { Runs } from '../../core/training/runs';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { followRun, toldOf } from '../following';
import { dataOption } from '../play';
import { runTable } from '../runWords';

interface Options {
  readonly data: string;
  readonly follow?: boolean;
}

export const installRuns: Install = (program, perform) => {
  program
    .command('runs')
    .description('list the runs, or show one')
    .argument('[run]', 'its id, or a part of it')
    .addOption(dataOption())
    .option('--follow', 'show the run until it is over; Ctrl+C leaves it running')
    .action((run: string | undefined, options: Options) => perform((to) => show(run, options, to)));
};

/** Without the figures of each task. */
function figuresOf(result: RunResult | undefined): object | undefined {
  if (result === undefined) return undefined;
  const { setting, model, start, interval } = result;
  return {
    ...{ title: setting.title, tasks: setting.tasks, success: model.figures.success },
    ...(start && { before: start.figures.success, interval }),
  };
}

async function show(
  name: string | undefined,
  { data, follow }: Options,
  to: CliContext,
): Promise<CommandResult> {
  const runs = new Runs(data);
  if (name !== undefined) {
    const run = await runs.find(name);
    return follow === true ? followRun(runs, run.id, to) : toldOf(run, false);
  }
  if (follow === true) throw wrongUse('Name the run to follow: tandem runs RUN --follow.');
  const listed = await runs.list();
  const results = new RunResults();
  await results.read(listed);
  return {
    rows: listed.map((run) => ({ ...run, evaluation: figuresOf(results.of(run)) })),
    summary: { runs: listed.length, running: listed.filter(({ isLive }) => isLive).length },
    print: () =>
      listed.length === 0
        ? `There are no runs in ${runs.folder}.`
        : runTable(listed, (run) => results.of(run)),
  };
}
