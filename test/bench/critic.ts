/**
 * Measures a critic on a dialogue of ten turns, and on the same turns read separately, without shared prefixes. Build
 * first: the critic runs in dist/scoring.js.
 *
 *   node test/bench/run.mjs critic <folder of a critic with graphs> [--json]
 */
import path from 'node:path';
import { KINDS, questionsAbout } from '../../src/core/task/starter/world';
import { ScoringProcess } from '../../src/core/model/local/critic/process';
import type { CriticDialogue } from '../../src/core/model/local/critic/protocol';
import type { ChatMessage } from '../../src/core/model/model';
import { firstTasks } from '../fixtures/starter-world';

const TURNS = 10;
const TIMES = 30;

/** Makes a dialogue of nine questions with replies, and the reference as the answer. */
function longDialogue(): CriticDialogue {
  const [starter] = firstTasks(1, { split: 'test', seed: 1, difficulty: 'standard' });
  const { task } = starter!;
  const messages: ChatMessage[] = [{ role: 'user', content: task.description }];
  for (const kind of KINDS.slice(0, TURNS - 1)) {
    messages.push({ role: 'assistant', content: questionsAbout(starter!, kind)[0]! });
    messages.push({ role: 'user', content: 'I have no preference about that.' });
  }
  messages.push({
    role: 'assistant',
    content: `I WANT TO ANSWER:\n\`\`\`python\n${task.reference}\n\`\`\``,
  });
  const turns = messages.flatMap(({ role }, position) =>
    role === 'assistant' ? [{ position, finishReason: 'stop' }] : [],
  );
  return { messages, turns, hiddenInformation: task.hiddenInformation };
}

const json = process.argv.includes('--json');
const folder = process.argv[2];
if (folder === undefined || folder.startsWith('--')) throw new Error('Name the folder of a critic.');
const critic = new ScoringProcess(path.resolve('dist/scoring.js'), path.resolve(folder));

async function milliseconds(dialogues: readonly CriticDialogue[]): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const start = performance.now();
    await Promise.all(dialogues.map((each) => critic.read(each)));
    taken.push(performance.now() - start);
  }
  return taken.sort((a, b) => a - b)[TIMES >> 1]!;
}

const dialogue = longDialogue();
const alone = dialogue.turns.map((turn) => ({
  ...dialogue,
  messages: dialogue.messages.slice(0, turn.position + 1),
  turns: [turn],
}));
const start = performance.now();
const read = await critic.read(dialogue);
const cold = performance.now() - start;
if ('why' in read) throw new Error(read.reason);
const tokens = read.turns.reduce((sum, { ids }) => sum + ids.length, 0);
const together = await milliseconds([dialogue]);
const apart = await milliseconds(alone);
const figures = { turns: TURNS, tokens, cold, together, apart, ratio: apart / together };
console.log(
  json
    ? JSON.stringify(figures)
    : `${TURNS} turns with ${tokens} tokens: ${together.toFixed(0)} ms in the median of ${TIMES} (the first, with loading, ${cold.toFixed(0)} ms); each turn by itself ${apart.toFixed(0)} ms, ${figures.ratio.toFixed(1)}×`,
);
await critic.close();
