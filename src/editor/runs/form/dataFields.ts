import * as vscode from 'vscode';
import type { Grouping } from '../../../core/evaluation/statistics';
import { SHORT } from '../../../core/dialogue/prompts';
import { isFieldPath } from '../../../core/training/fields';
import { isUsedBy } from '../../../core/training/methods';
import { runSchema } from '../../../core/training/schema';
import type { SharedValue } from '../../../core/trajectory/log';
import { reviewFilters } from '../../../core/trajectory/index/filter';
import { grouped } from '../../../core/text';
import type { FieldView, Option, Values } from '../../../../webview/newRun/protocol';
import { reviewName, starsWords } from '../../dialogue/filter';
import { fromSchema } from '../../translate';
import { learnsFromLog, methodOf, PACK, packOf, playsItself, type Form } from './configuration';

const { t } = vscode.l10n;

const data = runSchema.properties.data.properties;
const filter = data.filter.properties;

/** Filters of the log; they have a title and no description. */
export const LISTS = {
  pack: filter.pack,
  agent: filter.agent,
  collaborator: filter.collaborator,
  collaborator_kind: filter.collaborator_kind,
  stars: filter.stars,
  review: filter.review,
  opening: data.opening,
} as const;

/** Check boxes that let excluded dialogues into the training data. */
export const FLAGS = {
  'data.with_leaked': data.with_leaked,
  with_evaluations: data.with_evaluations,
  with_redo: data.with_redo,
  'data.with_doubtful': data.with_doubtful,
} as const;

export interface Choices {
  /** Models of this window with weights. */
  readonly places: readonly { readonly folder: string; readonly name: string; readonly ships: boolean }[];
  readonly packs: readonly SharedValue[];
  readonly packFiles: readonly { readonly file: string; readonly name: string; readonly tasks: number }[];
  readonly agents: readonly SharedValue[];
  readonly collaborators: readonly SharedValue[];
  /** Shown form of a value of a grouping. */
  called(value: string, of: Grouping): string;
  readonly dialogues: number;
}

/** The pack that is played, or the filters of the log. */
export function dataFields(form: Form, choices: Choices): FieldView[] {
  if (playsItself(form))
    return [packs(form, choices), ...schemaFlags(form).filter(({ name }) => isFieldPath(name))];
  return learnsFromLog(form) ? filters(form, choices) : [];
}

function packs(form: Form, { packFiles }: Choices): FieldView {
  const { title, description } = data.tasks;
  const chosen = packOf(form);
  const isOther = chosen !== '' && !packFiles.some(({ file }) => file === chosen);
  return {
    ...{
      name: PACK,
      label: fromSchema(title, t),
      about: fromSchema(description, t),
      control: 'choice',
      isChanged: false,
    },
    options: [
      ...(chosen === '' ? [{ value: '', label: t('Choose…') }] : []),
      ...packFiles.map(({ file, name, tasks }) => ({
        value: file,
        label: t('{0} ({1})', name, grouped(tasks)),
      })),
      ...(isOther ? [{ value: chosen, label: chosen }] : []),
    ],
  };
}

function filters(form: Form, choices: Choices): FieldView[] {
  const { values } = form;
  const any = { value: '', label: t('Any') };
  const field = (name: keyof typeof LISTS, options: readonly Option[]): FieldView => ({
    ...{ name, label: fromSchema(LISTS[name].title, t), about: '' },
    ...{ control: 'choice', options: [any, ...options] },
    isChanged: (values[name] ?? '') !== '',
  });
  const shared = (name: Grouping & keyof typeof LISTS, all: readonly SharedValue[]): FieldView =>
    field(name, [
      ...all.map(({ value, count }) => ({
        value,
        label: t('{0} ({1})', choices.called(value, name), grouped(count)),
      })),
      // A chosen value stays visible when no dialogue has it.
      ...(values[name] === undefined || values[name] === '' || all.some(({ value }) => value === values[name])
        ? []
        : [{ value: values[name], label: t('{0} ({1})', choices.called(values[name], name), 0) }]),
    ]);
  const day = (name: string, label: string): FieldView => ({
    ...{ name, label, about: '', control: 'text', placeholder: '2026-03-01' },
    isChanged: (values[name] ?? '') !== '',
  });
  return [
    shared('pack', choices.packs),
    shared('agent', choices.agents),
    shared('collaborator', choices.collaborators),
    field('collaborator_kind', [
      { value: 'developer', label: t('developers') },
      { value: 'simulator', label: t('simulator (models)') },
      { value: 'rules', label: t('simulator (rules)') },
    ]),
    field(
      'stars',
      [5, 4, 3, 2, 1, 0].map((stars) => ({ value: String(stars), label: starsWords(stars, t) })),
    ),
    field(
      'review',
      reviewFilters.map((value) => ({ value, label: reviewName(value, t) })),
    ),
    day('since', t('First day')),
    day('until', t('Last day')),
    {
      ...{ name: 'opening', label: fromSchema(LISTS.opening.title, t), control: 'choice' },
      about: t('Use the same prompt when playing (“Prompt Folder” = short).'),
      options: [
        { value: '', label: t('As Tandem ships it') },
        { value: SHORT, label: t('Short, for small models') },
      ],
      isChanged: (values.opening ?? '') !== '',
    },
    ...schemaFlags(form),
    flag(
      'with_editor_models',
      {
        label: t('Include VS Code-model dialogues'),
        about: t('Many vendors forbid it. Check the license terms first.'),
      },
      values,
    ),
  ];
}

const flag = (name: string, words: Pick<FieldView, 'label' | 'about'>, values: Values): FieldView => ({
  ...{ name, ...words, control: 'flag' },
  isChanged: values[name] === 'true',
});

const schemaFlags = (form: Form): FieldView[] =>
  Object.entries(FLAGS)
    .filter(([name]) => isUsedBy(methodOf(form), name))
    .map(([name, { title, description }]) =>
      flag(name, { label: fromSchema(title, t), about: fromSchema(description, t) }, form.values),
    );
