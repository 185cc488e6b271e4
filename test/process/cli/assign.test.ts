import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doubling, kim, openLog, play, temporaryFolder } from '../../fixtures/log';
import { commandFolder, tandem } from './tandem';

const { file } = commandFolder();

describe('tandem assign', () => {
  it('assigns a pack, and says how far everybody is', async () => {
    const data = await temporaryFolder();
    const { id, description, reference } = doubling;
    const task = {
      problem_description: description,
      ground_truth: reference,
      test_cases: { test1: 'double(1)' },
    };
    const pack = await file('mine.jsonl', [
      { ...task, id },
      ...['b', 'c'].map((other) => ({ ...task, id: other })),
    ]);
    expect((await tandem('assign', pack, '--data', data)).stdout.trim()).toBe(
      'mine.jsonl is assigned to nobody.',
    );
    const { code } = await tandem(
      ...['assign', pack, '--data', data, '--to', 'kim, ada,kim', '--per-task', '2'],
    );
    expect(code).toBe(0);
    const log = await openLog(data);
    await play(log, 'of-kim', 1, { collaborator: kim, pack: basename(pack) });
    await log.close();

    const { stdout } = await tandem('assign', pack, '--data', data);
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^person +done +of$/),
      expect.stringMatching(/^ada +0 +3$/),
      expect.stringMatching(/^kim +1 +3$/),
      expect.stringMatching(/^all +1 +6$/),
      'Each task is for 2 people.',
    ]);
    const json: unknown = JSON.parse((await tandem('assign', pack, '--data', data, '--json')).stdout);
    expect(json).toMatchObject({
      rows: [
        { person: 'ada', done: 0, of: 3 },
        { person: 'kim', done: 1, of: 3 },
      ],
      summary: { pack: 'mine.jsonl', tasks: 3, perTask: 2, done: 1, of: 6 },
    });
    // What was begun from a pack that is gone counts, unless another pack there has the task too.
    const later = await openLog(data);
    await play(later, 'of-ada', 1, {
      collaborator: { kind: 'developer', name: 'ada' },
      pack: 'gone.jsonl',
    });
    await later.close();
    const done = async (): Promise<string> => (await tandem('assign', pack, '--data', data)).stdout;
    expect(await done()).toMatch(/^ada +1 +3$/m);
    await file('gone.jsonl', [{ ...task, id }]);
    expect(await done()).toMatch(/^ada +0 +3$/m);
    const back = await tandem('assign', pack, '--data', data, '--nobody');
    expect(back.stdout.trim()).toBe('mine.jsonl is assigned to nobody.');
  });

  it.each([
    [['--to', 'ada,ben', '--per-task', '3'], '--per-task 3 takes as many people, and --to names 2.'],
    [['--to', ' , '], '--to names nobody; --nobody takes an assignment back.'],
    [['--to', 'ada', '--nobody'], '--to and --nobody contradict each other; give one of them.'],
  ])('refuses %j with one sentence', async (args, sentence) => {
    const pack = await file('other.jsonl', []);
    const { stderr, code } = await tandem('assign', pack, '--data', await temporaryFolder(), ...args);
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
  });
});
