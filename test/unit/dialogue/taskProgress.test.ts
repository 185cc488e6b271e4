import { describe, expect, it } from 'vitest';
import { TaskProgress, type TaskState } from '../../../src/core/dialogue/taskProgress';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import {
  doubling,
  kim,
  openLog,
  play,
  review,
  simulator,
  started,
  temporaryFolder,
} from '../../fixtures/log';

const ada = { kind: 'developer', name: 'ada' } as const;

/** Returns the states of the task for each person after the log was read anew. */
function statesIn(log: TrajectoryLog): Record<string, TaskState> {
  const progress = new TaskProgress();
  progress.read(log);
  return Object.fromEntries(progress.states(doubling.id, () => true));
}

describe('A person’s progress with a task', () => {
  it('is that of their own dialogues, also after a simulator took their seat', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'of-kim', 0.5, { collaborator: kim });
    await play(log, 'of-nobody', 1);
    await log.append(started('of-ada', { collaborator: ada }));
    await log.append({ event: 'hand-over', episode: 'of-ada', turn: 1, to: simulator });
    expect(statesIn(log)).toEqual({
      kim: { kind: 'done', episode: 'of-kim', reward: 0.5 },
      ada: { kind: 'draft', episode: 'of-ada', turns: 0 },
    });
  });

  it('is not done while a review asks for it again, with the reason, until it was played once more', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'first', 1, { collaborator: kim });
    const progress = new TaskProgress();
    progress.read(log);
    const state = (): TaskState => progress.state(doubling.id, ({ player }) => player === 'kim');
    await log.append(review('first', 'ada', 'redo', 'It gives the formula away'));
    progress.update(log, ['first']);
    await progress.readReasons([state()]);
    expect(state()).toEqual({ kind: 'redo', episode: 'first', reason: 'It gives the formula away' });
    await log.append(review('first', 'ada', 'accepted'));
    progress.update(log, ['first']);
    expect(state()).toMatchObject({ kind: 'done' });
    await log.append(review('first', 'ada', 'redo'));
    await play(log, 'second', 1, { collaborator: kim });
    progress.update(log, ['first', 'second']);
    expect(state()).toMatchObject({ kind: 'done', episode: 'second' });
  });

  it('goes with a dialogue to whoever takes the seat, and the earlier one counts again', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'earlier', 1, { collaborator: kim });
    await log.append(started('handed-over', { collaborator: kim }));
    const progress = new TaskProgress();
    progress.read(log);
    const states = (): unknown => Object.fromEntries(progress.states(doubling.id, () => true));
    expect(states()).toMatchObject({ kim: { kind: 'draft' } });
    await log.append({ event: 'hand-over', episode: 'handed-over', turn: 1, to: ada });
    progress.update(log, ['handed-over']);
    expect(states()).toMatchObject({
      kim: { kind: 'done', episode: 'earlier' },
      ada: { kind: 'draft', episode: 'handed-over' },
    });
  });
});
