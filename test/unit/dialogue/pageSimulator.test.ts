import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { colBenchPageProtocol } from '../../../src/core/dialogue/protocol';
import { openSimulator } from '../../../src/core/dialogue/openSimulator';
import type { PageReader } from '../../../src/core/page/outline';
import { pictureId } from '../../../src/core/trajectory/pictures';
import { startChatServer, type ChatRequest } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { scripted, shippedPrompts } from '../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';
import { bakery, drawingReader, pageOf, reader, shows } from '../../fixtures/pages';

const dialogues = dialoguesOfEachTest();

/** The replies to these turns of the agent, and what the simulator's server was asked. */
async function replied(turns: readonly string[], { vision, pages }: { vision: boolean; pages: PageReader }) {
  await using server = await startChatServer({
    reply: () => answer('The heading should be green.'),
    tells: { '/props': { modalities: { vision } } },
  });
  const simulator = openSimulator(`openai:m@${server.url}`, await shippedPrompts());
  const dialogue = await dialogues.start(await scripted(dialogues.folder, turns), {
    ...{ task: bakery, pages, simulator, collaborator: { kind: 'simulator', name: simulator.name } },
    ...{ protocol: { ...colBenchPageProtocol, maxTurns: turns.length } },
  });
  await dialogue.play();
  const { turns: logged } = await dialogues.logged(dialogue);
  return { replies: logged.map(({ reply }) => reply), requests: server.requests };
}

const turns = [
  'I think of a page.\nOUTPUT:\nWhat do you want?',
  shows('Golden Crust'),
  shows('Golden Crust'),
];

it('shows a model that sees the pictures of draft and wanted page, and keeps them', async () => {
  const { replies, requests } = await replied(turns, { vision: true, pages: drawingReader });
  const [first, second] = replies;
  // A message without a page gets the sentence of the rules.
  expect(first!.text).toMatch(/<html> to <\/html>/);
  expect(first!.shown).toBeUndefined();
  const [draft, wanted] = [Buffer.from(pageOf('Golden Crust')), Buffer.from(bakery.reference)];
  expect(second).toMatchObject({
    text: 'The heading should be green.',
    shown: 'pictures',
    pictures: { draft: pictureId(draft), wanted: pictureId(wanted), renderer: 'a test' },
  });
  for (const png of [draft, wanted]) {
    const file = path.join(dialogues.folder, '.tandem/pictures', `${pictureId(png)}.png`);
    expect(await readFile(file)).toEqual(png);
  }
  const [{ body }] = requests as [ChatRequest];
  expect(body.temperature).toBe(0);
  expect(body.messages).toHaveLength(1);
  const parts = body.messages[0]!.content as unknown as { type: string; image_url?: { url: string } }[];
  const pictures = parts.flatMap(({ image_url: image }) => image?.url ?? []);
  expect(pictures).toEqual([draft, wanted].map((png) => `data:image/png;base64,${png.toString('base64')}`));
  // Neither the description nor a word of the agent.
  const said = JSON.stringify(parts);
  expect(said).not.toContain(bakery.description);
  expect(said).not.toContain('I think of');
  expect(parts.map(({ type }) => type)).toEqual(['text', 'image_url', 'text', 'image_url', 'text']);
});

it.each([
  ['a server without vision', { vision: false, pages: drawingReader }],
  ['a renderer without pictures', { vision: true, pages: reader }],
])('describes both pages in words for %s', async (_, setting) => {
  const { replies, requests } = await replied(turns.slice(1), setting);
  expect(replies[0]).toMatchObject({ shown: 'outlines' });
  expect(replies[0]!.pictures).toBeUndefined();
  const { content } = requests[0]!.body.messages[0]!;
  expect(content).toContain('text “Golden Crust”');
  expect(content).toContain('text “Find us in the old mill”');
});

it('says why a draft cannot be drawn', async () => {
  const { replies, requests } = await replied([shows('slow'), 'OUTPUT:\nx'], {
    vision: true,
    pages: drawingReader,
  });
  expect(replies[0]!.text).toBe('It is too slow.');
  expect(requests).toHaveLength(0);
});
