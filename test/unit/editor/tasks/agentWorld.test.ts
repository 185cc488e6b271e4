import { expect, it, vi } from 'vitest';

vi.mock('vscode', () => import('../vscode'));

const { packsForAgent } = await import('../../../../src/editor/commands/tasks');

const packOf = (name: string, id: string) => ({ name, file: `/w/${name}.jsonl`, tasks: [{ id }], bad: [] });

const all = [
  packOf('own', 'parcel-surcharge'),
  packOf('pages', 'pages-development-0123456789ab'),
  packOf('pages-train', 'pages-train-0123456789ab'),
  packOf('questions', 'questions-development-0123456789ab'),
  packOf('world', 'starter-development-0123456789ab'),
];

async function playedBy(agentName: string): Promise<string[] | undefined> {
  const engine = { agentName, runOf: () => undefined };
  const packs = { all: () => Promise.resolve(all) };
  return (await packsForAgent({ engine, packs } as never))?.map(({ name }) => name);
}

it('lets the agents of pages and of twenty questions play no other tasks, and none to learn from', async () => {
  expect(await playedBy('starter-pages')).toEqual(['pages']);
  expect(await playedBy('starter-questions')).toEqual(['questions']);
});

it('begins with the tasks that the agent of functions knows', async () => {
  expect(await playedBy('starter')).toEqual(['world', 'own', 'pages', 'pages-train', 'questions']);
});

it('leaves the order to the workspace for other agents', async () => {
  expect(await playedBy('openai:m@http://localhost')).toEqual([
    'own',
    'pages',
    'pages-train',
    'questions',
    'world',
  ]);
});
