// A real language model, SmolLM2-135M-Instruct: what llama.cpp, PyTorch and Tandem's own runner make of the same words.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Chat, openChatFiles } from '../../../src/core/model/local/chat';
import { LocalModel } from '../../../src/core/model/local/model';
import type { ChatMessage, SamplingSettings } from '../../../src/core/model/model';
import { realModel } from '../../fixtures/real-model/folder';
import { texts } from '../../fixtures/real-model/texts';
import { serveModel, type RealServer } from '../../fixtures/real-server/server';
import { python } from '../../fixtures/trainer';

const { gguf, folder } = realModel();
let server: RealServer;
const opened: LocalModel[] = [];

beforeAll(async () => {
  server = await serveModel(gguf, 'smollm2');
});
afterAll(async () => {
  for (const model of opened) await model.close();
  await server.close();
});

function open(graph: string): LocalModel {
  const model = new LocalModel({
    name: `local:${graph}`,
    folder: path.join(folder, 'onnx', graph),
    inference: path.resolve('dist/inference.js'),
  });
  opened.push(model);
  return model;
}

const greedy: SamplingSettings = { temperature: 0, maxTokens: 24 };

const conversations: readonly (readonly ChatMessage[])[] = [
  [{ role: 'user', content: 'Write a Python function that adds up the prices of a list.' }],
  [
    { role: 'system', content: 'You help to write code. Ask before you write.' },
    { role: 'user', content: 'I need the price of a parcel by its weight.' },
    { role: 'assistant', content: 'From how many kilograms is a parcel heavy?' },
    { role: 'user', content: 'From 20 on.' },
  ],
];

/** What llama.cpp's server answers beside its chat. */
async function ask(what: string, body: object): Promise<unknown> {
  const answer = await fetch(server.url.replace(/v1$/, what), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

describe('the tokenizer of the folder that was made from a GGUF file', () => {
  const all = texts(1000);
  let byLlama: number[][];
  beforeAll(async () => {
    byLlama = [];
    for (const content of all)
      byLlama.push(((await ask('tokenize', { content })) as { tokens: number[] }).tokens);
  });

  it('gives the tokens of llama.cpp, here', () => {
    const { tokenizer } = openChatFiles(folder);
    const here = all.map((text) =>
      text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids,
    );
    expect(here.length).toBe(1000);
    expect(all.filter((_, index) => String(here[index]) !== String(byLlama[index]))).toEqual([]);
  });

  it('gives them in the trainer', async () => {
    const script = `
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
texts = json.load(open(sys.argv[2], encoding="utf-8")) if len(sys.argv) > 2 else json.load(sys.stdin)
`;
    expect(script).toBeTruthy();
  });
});

it('writes a conversation as llama.cpp does', async () => {
  const chat = new Chat(folder);
  for (const messages of conversations) {
    const { prompt } = (await ask('apply-template', { messages })) as { prompt: string };
    const { tokens } = (await ask('tokenize', { content: prompt, parse_special: true })) as { tokens: number[] };
    expect(chat.encode(messages)).toEqual(tokens);
  }
});

it('writes in fp32 what PyTorch writes, and in int8 what the export promised', async () => {
  const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
written = []
for messages in json.loads(sys.argv[2]):
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)["input_ids"]
    row = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=24)[0, prompt.shape[1]:]
    written.append({"prompt": prompt[0].tolist(), "ids": row.tolist()})
print(json.dumps(written))
`;
  const written = JSON.parse(await python(script, folder, JSON.stringify(conversations))) as {
    prompt: number[];
    ids: number[];
  }[];
  const model = open('model.onnx');
  for (const [index, { prompt, ids }] of written.entries()) {
    const turn = await model.generate(conversations[index]!, greedy);
    expect(turn.promptTokenIds).toEqual(prompt);
    expect(turn.tokens?.ids).toEqual(ids);
  }
});
