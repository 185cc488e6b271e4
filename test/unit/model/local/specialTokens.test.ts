import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { Chat } from '../../../../src/core/model/local/chat';
import { readSpecialTokens } from '../../../../src/core/model/local/specialTokens';
import { temporaryFolder } from '../../../fixtures/log';

/** test_folder_check.py compares the same cases with transformers. */
const { cases, tokenizers } = z
  .object({
    tokenizers: z.record(z.string(), z.unknown()),
    cases: z.array(
      z.object({
        name: z.string(),
        tokenizer: z.string(),
        files: z.record(z.string(), z.record(z.string(), z.unknown())),
        tokens: z.record(z.string(), z.string()),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync('trainer/tests/special_tokens.json', 'utf8')));

const write = (folder: string, name: string, content: unknown): Promise<void> =>
  writeFile(path.join(folder, name), JSON.stringify(content));

it.each(cases)(
  'finds special tokens where transformers finds them: $name',
  async ({ tokenizer, files, tokens }) => {
    const folder = await temporaryFolder();
    await write(folder, 'tokenizer.json', tokenizers[tokenizer]);
    for (const [name, content] of Object.entries(files)) await write(folder, name, content);
    expect(readSpecialTokens(folder)).toEqual(tokens);
  },
);

const WORDS = '{% for message in messages %}{{ message.content }}{% endfor %}';

it('a conversation begins with a token that stands only in special_tokens_map.json', async () => {
  const folder = await temporaryFolder();
  await write(folder, 'tokenizer.json', tokenizers.byte);
  await write(folder, 'config.json', { model_type: 'llama' });
  await write(folder, 'tokenizer_config.json', {
    chat_template: `{{ bos_token }}${WORDS}{{ eos_token }}`,
  });
  await write(folder, 'special_tokens_map.json', { bos_token: { content: '<s>' }, eos_token: '</s>' });
  const chat = new Chat(folder);
  expect(chat.encode([{ role: 'user', content: 'a' }])).toEqual([1, 9, 2]);
  expect([...chat.ends]).toEqual([2]);
});

it('named templates play by the default one, and are refused without it', async () => {
  const folder = await temporaryFolder();
  await write(folder, 'tokenizer.json', tokenizers.byte);
  await write(folder, 'config.json', { model_type: 'llama' });
  const named = [
    { name: 'tool_use', template: 'x' },
    { name: 'default', template: WORDS },
  ];
  await write(folder, 'tokenizer_config.json', { eos_token: '</s>', chat_template: named });
  expect(new Chat(folder).encode([{ role: 'user', content: 'a' }])).toEqual([9]);
  await write(folder, 'tokenizer_config.json', { eos_token: '</s>', chat_template: named.slice(0, 1) });
  expect(() => new Chat(folder)).toThrow('has the chat templates tool_use and none that is the default');
});
