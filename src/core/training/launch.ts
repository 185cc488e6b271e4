import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../fault';
import { isErrorCode, UNWRITABLE } from '../trajectory/files';
import { beginOf } from '../trajectory/heartbeat';
import type { Launch } from './process';
import { openRegular } from '../regularFile';
import { LAUNCH_LINE, readWhole, runFiles, writeWhole } from './runFolder';
import { commandOf, environmentOf, notStarted, type Trainer } from './trainer';

const configurationSchema = z.looseObject({
  resources: z
    .looseObject({
      processes: z.number().int().positive().catch(1),
      cluster: z.looseObject({}).nullable().catch(null),
    })
    .catch({ processes: 1, cluster: null }),
});

interface Placement {
  /** `resources.processes`, on one machine. */
  readonly processes: number;
  readonly isOnCluster: boolean;
}

export async function placementOf(folder: string): Promise<Placement> {
  const configuration = await readWhole(join(folder, runFiles.configuration), configurationSchema);
  const { processes = 1, cluster = null } = configuration?.resources ?? {};
  return { processes, isOnCluster: cluster !== null };
}

export interface Nodes {
  readonly count: number;
  /** From 0; machine 0 has the `address`. */
  readonly rank: string;
  readonly address: string;
  readonly port: number;
}

/** When one of the processes that hold a model together dies, all restart from the last checkpoint, so often. */
const RESTARTS = 5;

/** The trainer itself, torchrun with several trainers, or the follower of a Ray cluster's job. */
export function trainingCommand(
  trainer: Trainer,
  folder: string,
  { processes, isOnCluster, nodes }: Placement & { readonly nodes?: Nodes },
): readonly string[] {
  const configuration = join(folder, runFiles.configuration);
  if (isOnCluster) return commandOf(trainer, ['cluster', configuration]);
  const [python, ...alone] = commandOf(trainer, [configuration]);
  if (processes === 1 && nodes === undefined) return [python!, ...alone];
  const where =
    nodes === undefined
      ? ['--standalone'] // uses a free port, so that two runs on one machine do not collide
      : [
          ...['--nnodes', String(nodes.count), '--node-rank', nodes.rank],
          ...['--master-addr', nodes.address, '--master-port', String(nodes.port)],
        ];
  // This module is torchrun; it runs under the trainer's Python.
  const restarts = ['--max-restarts', String(RESTARTS)];
  return [
    python!,
    '-m',
    'torch.distributed.run',
    ...where,
    ...restarts,
    '--nproc-per-node',
    String(processes),
    ...alone,
  ];
}

/**
 * The trainer gets a session of its own: it survives this process, its terminal and its editor. Its events go into the
 * folder, so its stdout is discarded; stderr is appended to `trainer.log`.
 * @throws {Fault} `training/python-not-started`, `training/not-written`
 */
export async function launch(trainer: Trainer, folder: string): Promise<Launch> {
  try {
    return await launchIn(folder, trainer);
  } catch (cause) {
    if (!isErrorCode(cause, ...UNWRITABLE)) throw cause;
    const message = `No trainer can be started in ${folder}: ${messageOf(cause)}. Free some space or give permission, then try again.`;
    throw new Fault('training/not-written', message, { cause });
  }
}

async function launchIn(folder: string, trainer: Trainer): Promise<Launch> {
  const placement = await placementOf(folder);
  const { processes, isOnCluster } = placement;
  const command = trainingCommand(trainer, folder, placement);
  const started = new Date().toISOString();
  const log = await openRegular(join(folder, runFiles.log), { flags: 'a', links: 'refused' });
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
    const launched: Launch = {
      ...{ pid, host: hostname(), started, began: await beginOf(pid), command },
      ...(processes > 1 && { processes }),
      ...(isOnCluster && { isOnCluster }),
    };
    await writeWhole(join(folder, runFiles.launch), launched);
    return launched;
  } finally {
    await log.close();
  }
}
