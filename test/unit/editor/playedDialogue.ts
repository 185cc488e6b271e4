import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { Dialogue } from '../../../src/core/dialogue/dialogue';
import { colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../src/core/dialogue/simulator';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { answers, asks, scripted, shippedPrompts, starterTask } from '../../fixtures/dialogue';

/** What `playedDialogue` made. */
interface Played {
  readonly folder: string;
  /** The log of the folder, which is open. */
  readonly log: TrajectoryLog;
  readonly trajectory: Trajectory;
}

/**
 * Plays a real dialogue before the tests of a file: a developer replies, edits a suggestion, then hands over to the
 * rules. Its folder is removed after them.
 * @returns a function that gives them to a test
 */
export function playedDialogue(): () => Played {
  let played: Played;
  beforeAll(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tandem-played-'));
    played = { folder, ...(await play(folder)) };
  });
  afterAll(async () => {
    await played.log.close();
    await rm(played.folder, { recursive: true, force: true });
  });
  return () => played;
}

async function play(folder: string): Promise<Omit<Played, 'folder'>> {
  const log = await TrajectoryLog.open(path.join(folder, '.tandem'));
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'a test', level: 'export' });
  const task = await starterTask();
  const rules = new RulesSimulator();
  const agent = await scripted(folder, [
    asks('At how many kilograms is a parcel heavy?'),
    asks('How big is the supplement?'),
    asks('What about unknown zones?'),
    answers(task.reference),
  ]);
  const dialogue = await Dialogue.start({
    ...{ log, agent, task, simulator: rules, protocol: colBenchProtocol, seed: 1 },
    ...{ prompts: await shippedPrompts(), sampling: { temperature: 1, maxTokens: 500 } },
    ...{ pack: 'written-by-hand.jsonl', collaborator: { kind: 'developer', name: 'ada' } },
  });
  await dialogue.agentTurn();
  await dialogue.reply('Above 20.', { author: 'developer', by: 'ada', milliseconds: 42_400 });
  await dialogue.agentTurn();
  await dialogue.reply(`It is 4.50. ${task.reference}`, {
    author: 'developer-edited-suggestion',
    by: 'ada',
    suggestion: 'The supplement is 4.50.',
    milliseconds: 400,
  });
  await dialogue.agentTurn();
  await dialogue.handOver({ kind: rules.kind, name: rules.name }, rules);
  await dialogue.play();
  const rating = { stars: 4, comment: 'Good questions.', by: 'ada' };
  await log.append({ event: 'rating', episode: dialogue.id, ...rating });
  return { log, trajectory: (await log.trajectory(dialogue.id))! };
}
