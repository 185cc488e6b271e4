import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ownTask } from '../../../src/core/task/own';
import { parseConfiguration } from '../../../src/core/training/configuration';
import { fillRun } from '../../../src/core/training/data/fillRun';
import { agentTurn, answered, kim, openLog, reply, started, temporaryFolder } from '../../fixtures/log';
import { python } from '../../fixtures/trainer';

const RUN = `
import sys
from pathlib import Path
from tiny_run import SETTINGS, tiny_run, train
folder = Path(sys.argv[1])
path = tiny_run(folder, method="distill", distill=SETTINGS, data={"trajectories": sys.argv[2:], "held_out": 0.25})
ran = train(path)
print(ran.code, ran.stderr, (folder / "model").is_dir())
`;

it('trains a model by distillation on logged dialogues about own functions', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  const consent = { pseudonym: 'kim', purpose: 'research', level: 'local', signals: ['own-code'] } as const;
  await log.append({ event: 'consent', ...consent });
  for (const number of [1, 2, 3, 4]) {
    const [episode, name] = [`own-${number}`, `price_${number}`];
    const task = ownTask('The price of a parcel.', `def ${name}(weight):`);
    await log.recordTask(task);
    await log.appendAll([
      started(episode, { collaborator: kim, task: task.id }),
      agentTurn(episode, 1),
      reply(episode, 1, kim),
      agentTurn(episode, 2, `OUTPUT: I WANT TO ANSWER: def ${name}(weight): return 5`),
      answered(episode, 2, `def ${name}(weight): return 5`),
      {
        ...{ event: 'outcome', episode, outcome: 'edited', survived: 0.5, by: 'kim' },
        code: `def ${name}(weight):\n    return ${number} if weight > 20 else 5`,
      },
    ]);
  }
  const folder = await temporaryFolder();
  // A short request, as the tiny model spends a token on each letter.
  await writeFile(path.join(folder, 'opening.md'), '{{description}}');
  const run = {
    ...{ model: { base: folder }, method: 'distill' },
    data: { log: data, with_own_code: true, opening: 'opening.md' },
  };
  const configuration = await parseConfiguration(run, { from: 'run.json', folder });
  const prompts = path.resolve('trainer/tandem_trainer/data/prompts');
  const report = await fillRun(path.join(folder, 'filled'), { configuration, prompts });
  expect(report).toMatchObject({ trajectories: 4, left_out: {}, kept_local: 4 });

  const rows = path.join(folder, 'filled', 'data', 'trajectories.jsonl');
  expect((await python(RUN, path.join(folder, 'run'), rows)).trim()).toBe('0  True');
});
