import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pythonSetupLimit } from '../../fixtures/real-server/python';
import { serveModel, type RealServer } from '../../fixtures/real-server/server';
import { python } from '../../fixtures/trainer';

// Compares the GGUF file that `tandem convert` makes of a model folder, in llama.cpp, with the folder in transformers.

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-converted-'));
const TEXT = "<|im_start|>user\nWhat of 12345 days, don't you know?<|im_end|>\nÄ 日本";

const SCRIPT = `
import json, sys, torch
from pathlib import Path
from models import tiny_model
from tandem_trainer.export.gguf.convert import to_file
from transformers import AutoModelForCausalLM, AutoTokenizer
folder = Path(sys.argv[1])
own = tiny_model(folder / "own", head_dim=16)
to_file(own, folder / "tiny.gguf", "fp32")
ids = AutoTokenizer.from_pretrained(own)(sys.argv[2])["input_ids"]
model = AutoModelForCausalLM.from_pretrained(own)
written = model.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False, eos_token_id=None)[0]
print(json.dumps({"ids": ids, "written": written[len(ids) :].tolist()}))
`;

const expectedSchema = z.object({ ids: z.array(z.int()), written: z.array(z.int()) });
let server: RealServer;
let expected: z.infer<typeof expectedSchema>;

beforeAll(async () => {
  expected = expectedSchema.parse(JSON.parse(await python(SCRIPT, folder, TEXT)));
  server = await serveModel(path.join(folder, 'tiny.gguf'), 'tiny');
}, pythonSetupLimit);

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function ask(what: string, body: object): Promise<unknown> {
  const answer = await fetch(new URL(`/${what}`, server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.key}` },
    body: JSON.stringify(body),
  });
  return answer.json();
}

describe('llama.cpp, with a converted model,', () => {
  it('makes the same tokens of a text as transformers', async () => {
    expect(await ask('tokenize', { content: TEXT, parse_special: true })).toEqual({ tokens: expected.ids });
  });

  it('goes on with the same tokens', async () => {
    const given = {
      prompt: expected.ids,
      n_predict: 12,
      temperature: 0,
      ignore_eos: true,
      return_tokens: true,
    };
    expect(await ask('completion', given)).toMatchObject({ tokens: expected.written });
  });
});
