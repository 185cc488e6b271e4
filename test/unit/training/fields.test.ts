import { describe, expect, it } from 'vitest';
import { fields, textOf, valueOf } from '../../../src/core/training/fields';

describe('the fields of a configuration', () => {
  it('have the types, ranges and defaults that the schema gives', () => {
    expect(fields['critic.batch']).toMatchObject({ kind: 'whole', low: 1, withoutLow: false, default: 8 });
    expect(fields['critic.epochs'].default).toBe(4);
    expect(fields['policy.epochs'].default).toBe(1);
    expect(fields['data.held_out']).toMatchObject({ kind: 'number', low: 0, high: 1, withoutHigh: true });
    expect(fields['policy.learning_rate']).toMatchObject({ kind: 'number', default: null, or: [null] });
    expect(fields['resources.checkpoint_activations']).toMatchObject({ kind: 'flag', or: ['auto'] });
    expect(fields['export.onnx']).toMatchObject({ kind: 'several', values: ['fp32', 'int8', 'int4'] });
    expect(fields.convention).toMatchObject({ kind: 'choice', values: ['paper', 'reference-code'] });
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
    for (const [path, field] of Object.entries(fields))
      if (path !== 'model.base') expect(valueOf(field, textOf(field.default))).toEqual(field.default);
  });
});
