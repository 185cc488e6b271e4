import * as z from 'zod';
import { ask, faultOf, type Trainer } from './trainer';

/** `tensorboard`: a folder; `trackio`: a project on this machine. */
type Tracker = { readonly tensorboard: string } | { readonly trackio: string };

const trackedSchema = z.object({ figures: z.int(), state: z.string().nullable() });

/** `figures`: events with figures handed over now; `state`: of the run, null where it did not change. */
type Tracked = Readonly<z.infer<typeof trackedSchema>>;

/**
 * Exports figures until the run rests, or at once. Nothing is exported twice, so a later call continues.
 * @param folder of the run
 * @throws {Fault} `training/cannot-track` if the tracker's package is missing; `training/not-tracked`
 * @throws the signal's reason when it is aborted
 */
export async function track(
  trainer: Trainer,
  folder: string,
  tracker: Tracker,
  options: { readonly once: boolean; readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): Promise<Tracked> {
  const to =
    'tensorboard' in tracker ? ['--tensorboard', tracker.tensorboard] : ['--trackio', tracker.trackio];
  const args = ['track', folder, ...to, ...(options.once ? ['--once'] : [])];
  const answer = await ask(trainer, args, {
    cwd: process.cwd(),
    signal: options.signal,
    onLine: options.onLine,
  });
  if (answer.code === 0) return trackedSchema.parse(JSON.parse(answer.stdout.trim().split('\n').at(-1)!));
  throw faultOf(answer, ['training/cannot-track', 'training/not-tracked']);
}
