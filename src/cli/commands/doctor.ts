import { examine, type Check } from '../../core/training/checks';
import type { Install, Outcome, Surroundings } from '../command';
import { openShippedTrainer } from '../trainer';

export const installDoctor: Install = (program, perform) => {
  program
    .command('doctor')
    .description('check whether this machine can train: interpreter, packages, device, driver, disk')
    .action(() => perform(check));
};

async function check(to: Surroundings): Promise<Outcome> {
  const trainer = await openShippedTrainer(to);
  const rows = await examine(trainer, { again: true, signal: to.signal });
  const count = (wanted: Check['status']): number => rows.filter(({ status }) => status === wanted).length;
  return {
    rows,
    summary: { python: trainer.python, ok: count('ok'), warnings: count('warning'), failed: count('failed') },
    print: () => rows.map(inWords).join('\n'),
    failed: count('failed') > 0,
  };
}

function inWords({ name, status, saw, command, remedy }: Check): string {
  const line = `${status.padEnd(7)}  ${name}: ${saw}`;
  return status === 'ok' ? line : `${line}\n         ran ${command}\n         to fix: ${remedy ?? '–'}`;
}
