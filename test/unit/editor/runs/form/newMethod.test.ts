import { expect, it, vi } from 'vitest';
import type { RunSchema } from '../../../../../src/core/training/schema';
import { filled, type FormContext } from '../../../../../src/editor/runs/form/configuration';
import { type Choices, formView } from '../../../../../src/editor/runs/form/view';

vi.mock('vscode', () => import('../../vscode'));
vi.mock('../../../../../media/run.schema.json', async (original) => {
  const { default: schema } = structuredClone(await original<{ readonly default: RunSchema }>());
  const { method } = schema.properties;
  method.enum.push('imitate');
  Object.assign(method.methods, {
    imitate: {
      ...method.methods.rft,
      title: 'Imitation',
      description: 'The agent imitates a teacher.',
      settings: ['imitate'],
      ignores: ['data.pairing'],
      policy: 'imitate',
      learns_from: 'dialogues',
    },
  });
  const properties = {
    teacher: {
      anyOf: [{ type: 'string', format: 'path' }, { type: 'null' }],
      default: null,
      title: 'Teacher',
    },
    temperature: { type: 'number', exclusiveMinimum: 0, default: 2, title: 'Temperature' },
  };
  Object.assign(schema.properties, { imitate: { type: 'object', title: 'Imitation', properties } });
  return { default: schema };
});

const context: FormContext & { readonly restriction: string; readonly recommendation: string } = {
  recommended: { model: { base: '/models/starter' }, data: {}, critic: { beta: 3 } },
  ...{ dataFolder: '/project/.tandem', name: (method) => method, cluster: { state: 'none' } },
  ...{ restriction: '', recommendation: '' },
};
const choices: Choices = {
  ...{ places: [], packs: [], packFiles: [], agents: [], collaborators: [], dialogues: 12 },
  called: (value) => value,
};

it('offers a method that only the schema knows, with the settings of its group', () => {
  const form = { values: { base: '/models/starter', method: 'imitate', 'imitate.temperature': '3' } };
  const { methods, groups, data } = formView(form, choices, context).view;
  expect(methods.at(-1)).toMatchObject({ value: 'imitate', label: 'Imitation', plays: false });
  expect(groups.map(({ title }) => title)).toEqual(['Run', 'Model', 'Resources', 'Result', 'Training']);
  expect(groups.flatMap(({ fields }) => fields.map(({ name }) => name))).toEqual(
    expect.arrayContaining(['imitate.teacher', 'imitate.temperature']),
  );
  expect(data.map(({ name }) => name)).not.toContain('data.pairing');
  const { configuration, errors } = filled(form, context);
  expect(errors).toEqual({});
  expect(configuration).toMatchObject({ method: 'imitate', imitate: { temperature: 3 } });
  expect(configuration).not.toHaveProperty('critic');
  expect(filled({ values: { ...form.values, 'imitate.temperature': '0' } }, context).errors).toHaveProperty([
    'imitate.temperature',
  ]);
});
