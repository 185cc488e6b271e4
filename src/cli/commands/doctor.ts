import { systemPython } from '../../core/grading/native/native';
import { examine, type Check } from '../../core/training/checks';
import type { Install, CommandResult, CliContext } from '../command';
import { openShippedTrainer } from '../trainer';

export const installDoctor: Install = (program, perform) => {
  program
    .command('doctor')
    .description(
      'check whether this machine can train (interpreter, packages, device, driver, disk) and grade answers that need numpy',
    )
    .action(() => perform(check));
};

async function check(to: CliContext): Promise<CommandResult> {
  const trainer = await openShippedTrainer(to);
  const rows = [...(await examine(trainer, { again: true, signal: to.signal })), await gradesNumpy(to)];
  const count = (wanted: Check['status']): number => rows.filter(({ status }) => status === wanted).length;
  return {
    rows,
    summary: { python: trainer.python, ok: count('ok'), warnings: count('warning'), failed: count('failed') },
    print: () => rows.map(inWords).join('\n'),
    failed: count('failed') > 0,
  };
}

/** Checks whether answers that need numpy can be graded. If not, only they are left out as not gradable. */
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
