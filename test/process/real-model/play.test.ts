// Compares llama.cpp, PyTorch and Tandem's own runner on a real language model, SmolLM2-135M-Instruct.
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChatFiles } from '../../../src/core/model/local/chat';
import { LocalModel } from '../../../src/core/model/local/model';
import type { ChatMessage, SamplingSettings } from '../../../src/core/model/model';
import { realModel } from '../../fixtures/real-model/folder';
import { texts } from '../../fixtures/real-model/texts';
import { serveModel, type RealServer } from '../../fixtures/real-server/server';
import { python } from '../../fixtures/trainer';

const { gguf, folder } = realModel();
let server: RealServer;
const opened: LocalModel[] = [];
const scratch = mkdtempSync(path.join(tmpdir(), 'tandem-real-'));

beforeAll(async () => {
  server = await serveModel(gguf, 'smollm2');
});
afterAll(async () => {
  for (const model of opened) await model.close();
  await server.close();
  await rm(scratch, { recursive: true, force: true });
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

const SCRIPT = `
import json, sys, torch
from pathlib import Path
from transformers import AutoModelForCausalLM, AutoTokenizer
asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
tokens = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in asked["texts"]]
written = []
for messages in asked["conversations"]:
    prompt = tokenizer(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False), add_special_tokens=False, return_tensors="pt")
    row = model.generate(**prompt, do_sample=False, max_new_tokens=24)[0]
    length = prompt["input_ids"].shape[1]
    written.append({"prompt": row[:length].tolist(), "ids": row[length:].tolist()})
print(json.dumps({"tokens": tokens, "written": written}))
`;

interface Said {
  readonly tokens: readonly (readonly number[])[];
  readonly written: readonly { readonly prompt: readonly number[]; readonly ids: readonly number[] }[];
}

/** Read once, because a study may add to the files that they are from. */
const all = texts(1000);

let said: Promise<Said> | undefined;

/** Returns the results of transformers and PyTorch for the texts and conversations. */
function says(): Promise<Said> {
  return (said ??= (async () => {
    const file = path.join(scratch, 'asked.json');
    await writeFile(file, JSON.stringify({ texts: all, conversations }));
    return JSON.parse(await python(SCRIPT, folder, file)) as Said;
  })());
}

/** Calls an endpoint of llama.cpp's server other than its chat. */
async function ask(what: string, body: object): Promise<unknown> {
  const answer = await fetch(server.url.replace(/v1$/, what), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

it('has the tokens of llama.cpp for a thousand texts, here and in the trainer', async () => {
  const byLlama: number[][] = [];
  for (const content of all) {
    byLlama.push(((await ask('tokenize', { content })) as { tokens: number[] }).tokens);
  }
  const { tokenizer } = new ChatFiles(folder);
  const here = all.map((text) =>
    text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids,
  );
  const inTrainer = (await says()).tokens;
  const others = (ids: readonly (readonly number[])[]) =>
    all.filter((_, index) => String(ids[index]) !== String(byLlama[index]));
  expect([here.length, inTrainer.length]).toEqual([1000, 1000]);
  expect(others(here)).toEqual([]);
  expect(others(inTrainer)).toEqual([]);
});

it('writes in fp32 what PyTorch writes, and in int8 nearly so', async () => {
  const { written } = await says();
  const [exact, quantised] = [open('model.onnx'), open('model_int8.onnx')];
  for (const [index, { prompt, ids }] of written.entries()) {
    const turn = await exact.generate(conversations[index]!, greedy);
    expect(turn.promptTokenIds).toEqual(prompt);
    expect(turn.tokens.ids).toEqual(ids);
    const near = await quantised.generate(conversations[index]!, greedy);
    // While both write the same tokens, their contexts are equal.
    const same = ids.findIndex((id, place) => near.tokens.ids[place] !== id);
    const alike = same === -1 ? ids.length : same;
    expect(alike).toBeGreaterThan(0);
    const apart = ids
      .slice(0, alike)
      .map((_, place) => Math.abs(near.tokens.logprobs[place]! - turn.tokens.logprobs[place]!));
    expect(apart.reduce((sum, one) => sum + one, 0) / alike).toBeLessThan(0.2);
  }
});
