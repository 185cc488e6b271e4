/**
 * Writes the language of a world and then the documents from which its starter model learns to standard output, one
 * per line:
 *   node demonstrations.js <functions, pages or twenty-questions> <number of documents> <seed>
 */
import { once } from 'node:events';
import { functionDocuments } from './documents';
import { FUNCTION_LANGUAGE } from './language';
import { pageDocuments } from './pages/documents';
import { pageLanguage } from './pages/language';
import { questionDocuments } from './questions/documents';
import { questionLanguage } from './questions/language';

const WORLDS = {
  functions: { language: FUNCTION_LANGUAGE, documents: functionDocuments },
  pages: { language: pageLanguage(), documents: pageDocuments },
  'twenty-questions': { language: questionLanguage(), documents: questionDocuments },
};

const [name = '', ...numbers] = process.argv.slice(2);
const [count, seed] = numbers.map(Number);
const world = Object.hasOwn(WORLDS, name) ? WORLDS[name as keyof typeof WORLDS] : undefined;
if (world === undefined || !Number.isInteger(count) || !Number.isInteger(seed)) {
  throw new Error('Give a world, the number of documents and a seed.');
}
await write(world.language);
const documents = world.documents(seed!);
for (let i = 0; i < count!; i++) await write(documents.next().value);

async function write(line: unknown): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
}
