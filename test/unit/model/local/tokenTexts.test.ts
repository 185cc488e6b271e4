import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ChatFiles } from '../../../../src/core/model/local/chat';
import { TokenTexts } from '../../../../src/core/model/local/tokenTexts';
import { temporaryFolder } from '../../../fixtures/log';

const bytesOf = (folder: string, ids: readonly number[]): Buffer => {
  const texts = new TokenTexts(folder);
  return Buffer.from(ids.flatMap((id) => texts.of(id).bytes));
};

it('tells the bytes of the tokens of a byte-level vocabulary, also those of a part of a character', () => {
  const folder = path.resolve('media/starter');
  const text = 'def f(x):\n\treturn “né”\u00ad 👍';
  const ids = new ChatFiles(folder).idsOf(text);
  expect(ids.length).toBeGreaterThan(10);
  expect(bytesOf(folder, ids).toString()).toBe(text);
  const texts = new TokenTexts(folder);
  expect(ids.map((id) => texts.of(id).text)).toContain('\ufffd');
  expect(texts.of(4)).toEqual({ text: '<|end|>', bytes: [...Buffer.from('<|end|>')] });
  expect(texts.of(1_000_000)).toEqual({ text: '', bytes: [] });
});

it('tells the bytes of the tokens of a SentencePiece vocabulary', async () => {
  const folder = await temporaryFolder();
  const vocab = ['<unk>', '▁the', '▁', 'pri', 'ce', '<0xE2>', '<0x82>', '<0xAC>'];
  const tokenizer = {
    added_tokens: [{ id: 0, content: '<unk>', special: true }],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
      ],
    },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(vocab.map((token, id) => [token, id])),
      merges: [],
      unk_token: '<unk>',
      byte_fallback: true,
    },
  };
  await writeFile(path.join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  const chat_template = '{% for message in messages %}{{ message.content }}{% endfor %}';
  await writeFile(path.join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template }));
  expect(bytesOf(folder, [1, 2, 3, 4, 2, 5, 6, 7]).toString()).toBe(' the price €');
});
