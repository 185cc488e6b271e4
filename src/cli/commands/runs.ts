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
  if (follow === true) throw wrongUse('Say which run to follow: tandem runs RUN --follow.');
  const rows = await runs.list();
  return {
    rows,
    summary: { runs: rows.length, running: rows.filter(({ isLive }) => isLive).length },
    print: () => (rows.length === 0 ? `There are no runs in ${runs.folder}.` : runTable(rows)),
  };
}
