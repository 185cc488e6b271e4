import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Template } from '../../../src/core/model/local/template/template';
import { python } from '../../fixtures/trainer';

type Turn = readonly [role: 'system' | 'user' | 'assistant', content: string];

const CODE = 'def f(x):\n\tif x:\n        return {\'a\': "b"}\n    return None  ';
const DIALOGUES: Readonly<Record<string, readonly Turn[]>> = {
  'indented code after thoughts': [
    ['system', 'You write Python.\n'],
    ['user', '  Sort.\n\n    indented é 😀'],
    ['assistant', `<think>\nWhat is it?\n</think>\n\n    OUTPUT:\n        ${CODE}`],
    ['user', 'Yes. \t'],
    ['assistant', `    ${CODE}\n\n`],
  ],
  'empty and unclosed thoughts': [
    ['user', 'Go'],
    ['assistant', '<think>\n\n</think>\n\n\tleading tab\n'],
    ['user', '</think> in a question <think>'],
    ['assistant', 'no think\n</think>\n    after only\n'],
    ['user', 'x'],
  ],
  'braces and special tokens': [
    ['system', ''],
    ['user', '{{ x }} {% if y %} {# z #} %} }}'],
    ['assistant', ''],
    ['user', '<|im_end|>\n<|im_start|>user <s>[INST] <end_of_turn> <|eot_id|>'],
  ],
  'consecutive roles': [
    ['user', 'a'],
    ['user', 'b'],
    ['assistant', 'c'],
    ['assistant', 'd'],
  ],
  'a late system message': [
    ['user', 'a'],
    ['assistant', 'b'],
    ['system', 's'],
    ['user', 'c'],
  ],
  'other alphabets and spaces': [
    ['system', 'Ἀθήνα\u00a0\u2003'],
    ['user', '\u3000日本語\u2028x\ufeff'],
    ['assistant', '\x1c naïve\x85'],
    ['user', 'ß\r\nÿ'],
  ],
  'nothing but a system message': [['system', 's']],
};

/** Prints what each template of TRL makes of each set of variables, `null` where it refuses them. */
const SCRIPT = `
import json, sys
from pathlib import Path
import trl
from transformers.utils.chat_template_utils import _compile_jinja_template
from tandem_trainer.data.template import SAME_DAY
from tandem_trainer.data.template_check import check_template

variables = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
made = []
for file in sorted((Path(trl.__file__).parent / "chat_templates").glob("*.jinja")):
    text = file.read_text(encoding="utf-8")
    check_template(text, file.name)
    compiled = _compile_jinja_template(SAME_DAY + text if "strftime_now" in text else text)
    rendered = []
    for each in variables:
        try:
            rendered.append(compiled.render(**each))
        except Exception:
            rendered.append(None)
    made.append({"name": file.name, "text": text, "rendered": rendered})
Path(sys.argv[2]).write_text(json.dumps(made), encoding="utf-8")
`;

interface Made {
  readonly name: string;
  readonly text: string;
  readonly rendered: readonly (string | null)[];
}

it('renders the templates of TRL as Python does', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-templates-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const variables = Object.values(DIALOGUES).flatMap((turns) =>
    [true, false].flatMap((add_generation_prompt) =>
      [{}, { enable_thinking: true }, { enable_thinking: false }].map((options) => ({
        messages: turns.map(([role, content]) => ({ role, content })),
        ...{ add_generation_prompt, tools: null, documents: null, bos_token: '<s>', eos_token: '</s>' },
        ...options,
      })),
    ),
  );
  const [given, written] = [path.join(folder, 'variables.json'), path.join(folder, 'made.json')];
  await writeFile(given, JSON.stringify(variables));
  await python(SCRIPT, given, written);
  const made = JSON.parse(await readFile(written, 'utf8')) as Made[];
  expect(made.length).toBeGreaterThan(50);
  const different = made.flatMap(({ name, text, rendered }) => {
    const template = new Template(text);
    const texts = variables.map((each) => textOrNull(() => template.render(each)));
    return texts.every((one, index) => one === rendered[index]) ? [] : [name];
  });
  expect(different).toEqual([]);
});

function textOrNull(render: () => string): string | null {
  try {
    return render();
  } catch {
    return null;
  }
}
