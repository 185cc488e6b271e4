/**
 * Writes the documents from which the starter model learns to standard output, one per line:
 *   node demonstrations.js <number of documents> <seed>
 */
import { once } from 'node:events';
import { deriveSeed } from '../../src/core/dialogue/seed';
import { Random } from '../../src/core/task/starter/draw';
import { starterTasks } from '../../src/core/task/starter/world';
import { drawDocument } from './documents';

const [count, seed] = process.argv.slice(2).map(Number);
if (count === undefined || seed === undefined || !Number.isInteger(count) || !Number.isInteger(seed)) {
  throw new Error('Give the number of documents and a seed.');
}
const tasks = {
  standard: starterTasks({ split: 'train', seed, difficulty: 'standard' }),
  gentle: starterTasks({ split: 'train', seed, difficulty: 'gentle' }),
  hard: starterTasks({ split: 'train', seed, difficulty: 'hard' }),
};
const random = new Random(deriveSeed('demonstrations', seed));
for (let i = 0; i < count; i++) {
  const line = JSON.stringify(drawDocument(tasks, random));
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}
