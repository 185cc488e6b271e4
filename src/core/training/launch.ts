import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { writeAtomically } from '../trajectory/files';
import { beginOf } from '../trajectory/running';
import type { Launch } from './process';
import { LAUNCH_LINE, runFiles } from './runFolder';
import { commandOf, environmentOf, notStarted, type Trainer } from './trainer';

/**
 * Starts the trainer on a run folder, in a session of its own: it lives on when this process, its terminal or its
 * editor ends. Its events go into the folder, so its stdout is thrown away; stderr is appended to `trainer.log`.
 *
 * @throws {Fault} `training/python-not-started`
 */
export async function launch(trainer: Trainer, folder: string): Promise<Launch> {
  const command = commandOf(trainer, [join(folder, runFiles.configuration)]);
  const started = new Date().toISOString();
  const log = await open(join(folder, runFiles.log), 'a');
  try {
    await log.writeFile(`${LAUNCH_LINE}${started}: ${command.join(' ')}\n`);
    const child = spawn(command[0]!, command.slice(1), {
      cwd: folder,
      env: environmentOf(trainer),
      stdio: ['ignore', 'ignore', log.fd],
      detached: true,
      windowsHide: true,
    });
    await once(child, 'spawn').catch((error: unknown) => {
      throw notStarted(trainer, error as Error);
    });
    child.unref();
    const pid = child.pid!;
    const launched: Launch = { pid, host: hostname(), started, began: await beginOf(pid), command };
    await writeAtomically(join(folder, runFiles.launch), (file) => file.writeFile(JSON.stringify(launched)));
    return launched;
  } finally {
    await log.close();
  }
}
