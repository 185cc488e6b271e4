import { systemPython } from '../../core/grading/native/native';
import { examine, examineCluster, type Check } from '../../core/training/checks';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openShippedTrainer } from '../resources';

interface Options {
  readonly cluster?: string;
  readonly storage?: string;
}

export const installDoctor: Install = (program, perform) => {
  program
    .command('doctor')
    .description(
      'check whether this machine can train (interpreter, packages, device, driver, disk) and grade answers that need numpy',
    )
    .option(
      '--cluster <address>',
      'check each node of the Ray cluster with this dashboard instead: versions, GPUs, storage, network',
    )
    .option('--storage <folder>', 'with --cluster: the folder that all nodes should see')
    .action(perform(check));
};

async function check({ cluster, storage }: Options, to: CliContext): Promise<CommandResult> {
  if (storage !== undefined && cluster === undefined)
    throw wrongUse('--storage is looked for on the nodes of a cluster: give its address with --cluster.');
  const trainer = await openShippedTrainer(to);
  const { signal } = to;
  const rows =
    cluster === undefined
      ? [...(await examine(trainer, { again: true, signal })), await gradesNumpy(to)]
      : await examineCluster(trainer, cluster, { storage, signal });
  const count = (wanted: Check['status']): number => rows.filter(({ status }) => status === wanted).length;
  return {
    rows,
    summary: { python: trainer.python, ok: count('ok'), warnings: count('warning'), failed: count('failed') },
    print: () => rows.map(inWords).join('\n'),
    failed: count('failed') > 0,
  };
}

/** Without numpy, only the answers that need it are left out as not gradable. */
async function gradesNumpy({ assets }: CliContext): Promise<Check> {
  const look = { name: 'numpy answers', command: 'bwrap, with a Python that has numpy' };
  const runner = await systemPython(assets, process.env.TANDEM_PYTHON)();
  if ('unavailable' in runner) {
    const [saw, remedy] = runner.unavailable.split(/: (?=[^:]*$)/, 2);
    return { ...look, status: 'warning', saw: `not gradable here. ${saw}`, remedy };
  }
  await runner.close();
  return { ...look, status: 'ok', saw: 'gradable here, under bubblewrap' };
}

function inWords({ name, status, saw, command, remedy }: Check): string {
  const line = `${status.padEnd(7)}  ${name}: ${saw}`;
  return status === 'ok' ? line : `${line}\n         ran ${command}\n         to fix: ${remedy ?? '–'}`;
}
