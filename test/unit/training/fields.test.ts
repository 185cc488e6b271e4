import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { allows, fields, isFieldPath, textOf, valueOf, type Field } from '../../../src/core/training/fields';
import { barePython } from '../../fixtures/trainer';

/** What `config.py` says of each field: its default, and which of some values the trainer's own check takes. */
const ASK = `
import dataclasses, json, sys, typing
from pathlib import Path
from tandem_trainer import config
from tandem_trainer.read_config import _Refused, _parse
values, told = json.loads(sys.argv[1]), {}
def look(kind, prefix):
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        path, hint = prefix + field.name, hints[field.name]
        if dataclasses.is_dataclass(hint):
            look(hint, path + ".")
            continue
        default = field.default
        if default is dataclasses.MISSING:
            default = field.default_factory() if field.default_factory is not dataclasses.MISSING else ""
        taken = []
        for value in values:
            try:
                _parse(hint, value, path, Path("/"))
                taken.append(True)
            except _Refused:
                taken.append(False)
        told[path] = {"default": default, "taken": taken}
look(config.RunConfig, "")
print(json.dumps(told))
`;

const values: readonly unknown[] = [
  ...[
    -1,
    0,
    0.03,
    0.5,
    1,
    1.5,
    2,
    16,
    1e6,
    null,
    true,
    false,
    '',
    'auto',
    'some words',
    [],
    ['int8'],
    ['int9'],
  ],
  ...Object.values(fields).flatMap((field: Field) =>
    field.kind === 'choice' || field.kind === 'several' ? field.values : [],
  ),
];

/** Files, lists of files and what a template is given; and the version, which nobody chooses. */
const ELSEWHERE = [
  ...['model.chat_template', 'model.template_options', 'data.log', 'data.trajectories'],
  ...['data.preferences', 'data.opening', 'version', 'resources.shared'],
];

describe('the fields of a configuration', () => {
  it('are those of the trainer, with its defaults, and take what it takes', async () => {
    const told = z
      .record(z.string(), z.object({ default: z.unknown(), taken: z.array(z.boolean()) }))
      .parse(JSON.parse(await barePython(ASK, JSON.stringify(values))));
    expect(Object.keys(told).filter((path) => !isFieldPath(path))).toEqual(ELSEWHERE);
    for (const [path, field] of Object.entries(fields)) {
      expect([path, field.default]).toEqual([path, told[path]?.default]);
      // What is no folder of a model may be a name on the hub.
      if (path === 'model.base') continue;
      const taken = values.map((value) => allows(field, value));
      const other = values.filter((_, index) => taken[index] !== told[path]?.taken[index]);
      expect([path, ...other]).toEqual([path]);
    }
  });

  it.each([
    ['critic.beta', '0.2', 0.2],
    ['critic.beta', ' 2e-1 ', 0.2],
    ['critic.beta', '', undefined],
    ['critic.beta', '0', undefined],
    ['critic.beta', '0x2', undefined],
    ['critic.batch', '1.5', undefined],
    ['policy.learning_rate', '', null],
    ['resources.token_budget', 'auto', 'auto'],
    ['resources.checkpoint_activations', 'true', true],
    ['model.device', 'tpu', undefined],
    ['export.onnx', 'fp32, int8', ['fp32', 'int8']],
    ['export.onnx', '', []],
    ['name', '', ''],
  ] as const)('are typed: %s "%s"', (path, text, value) => {
    expect(valueOf(fields[path], text)).toEqual(value);
  });

  it('are written as they are typed', () => {
    for (const field of Object.values(fields))
      expect(valueOf(field, textOf(field.default))).toEqual(field.default);
  });
});
