import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../../src/core/task/pack';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, demonstration, json, tandem } from './tandem';

const { folder, play } = commandFolder();

describe('tandem erase', () => {
  it('leaves nothing of a developer in the log, and everything of the others', async () => {
    const data = path.join(folder, 'erase');
    await tandem('collect', ...play('erase'));
    const log = await TrajectoryLog.open(data);
    const [task] = (await loadTasks(starterPack)).tasks;
    await log.recordTask(task!);
    const collaborator = { kind: 'developer', name: 'ada' } as const;
    await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'research' });
    await log.append(
      {
        event: 'episode-started',
        episode: 'by-ada',
        task: task!.id,
        agent: demonstration,
        collaborator,
        protocol: { maxTurns: 10, replyLimit: 400 },
        prompts: {},
        seed: 1,
      },
      { durable: true },
    );
    await log.close();
    const schema = z.object({ summary: z.object({ episodes: z.number() }) });
    expect((await json(schema, 'erase', 'ada', '--yes', '--data', data)).summary).toEqual({ episodes: 1 });
    const segments = await readdir(path.join(data, 'log'));
    const left = await Promise.all(segments.map((name) => readFile(path.join(data, 'log', name), 'utf8')));
    expect(left.join('')).not.toContain('ada"');
    const again = await TrajectoryLog.open(data);
    expect(again.list({ offset: 0, limit: 100 }).total).toBe(6);
    await again.close();
  });
});
