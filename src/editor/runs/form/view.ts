import * as vscode from 'vscode';
import { fields, isFieldPath, type Field, type FieldPath } from '../../../core/training/fields';
import { isUsedBy, METHODS } from '../../../core/training/methods';
import { runSchema, type Schema } from '../../../core/training/schema';
import type {
  FieldGroup,
  FieldView,
  FormView,
  Option,
  Values,
  WarmStartView,
} from '../../../../webview/newRun/protocol';
import { fromSchema } from '../../translate';
import { clusterView, whereOptions } from './cluster';
import {
  baseOf,
  filled,
  HUB,
  learnsFromRows,
  isOnCluster,
  isTrainedHere,
  methodOf,
  PACK,
  packOf,
  playsItself,
  textsOf,
  type Filled,
  type Form,
  type FormContext,
  learnsFromLog,
} from './configuration';
import { choiceWord, deviceOptions, methodOptions } from './words';
import type { Grouping } from '../../../core/evaluation/statistics';
import { SHORT } from '../../../core/dialogue/prompts';
import type { SharedValue } from '../../../core/trajectory/log';
import { reviewFilters } from '../../../core/trajectory/index/filter';
import { grouped } from '../../../core/text';
import { reviewName, starsWords } from '../../dialogue/filter';

const { t } = vscode.l10n;

/** Fields outside *More*, or beside the filters of the log. */
const ELSEWHERE: readonly FieldPath[] = [
  ...(['method', 'model.base', 'model.device'] as const),
  ...(['data.with_leaked', 'data.with_doubtful'] as const),
];

export const SETTINGS: readonly FieldPath[] = (Object.keys(fields) as FieldPath[]).filter(
  (path) => !ELSEWHERE.includes(path),
);

/** Titles of the groups of settings by name. */
export const GROUPS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<Schema>(runSchema.properties).flatMap(([name, { title = name, properties }]) =>
    properties === undefined || name === 'data' ? [] : [[name, title]],
  ),
);

export function formView(
  given: Form,
  choices: Choices,
  context: FormContext & {
    readonly restriction: string;
    readonly recommendation: string;
    readonly methodReason?: string | undefined;
    readonly warmStart?: WarmStartView;
  },
): { readonly view: FormView; readonly filled: Filled } {
  const { restriction, recommendation, methodReason = '', warmStart } = context;
  const form = withPack(given, choices);
  const result = filled(form, context);
  // Other values than these are marked as changed.
  const untouched = textsOf(filled({ ...form, values: choicesOf(form.values) }, context));
  // Of a duplicate, the settings that differ from a new run's are counted.
  const usual = textsOf(filled({ values: choicesOf(form.values) }, context));
  const now = textsOf(result);
  const data = [...dataFields(form, choices), ...settings('data.', form, untouched)];
  const groups = groupsOf(form, untouched);
  const changed = [...data, ...groups.flatMap(({ fields: ofGroup }) => ofGroup)].filter(
    ({ name, isChanged }) => isChanged || (isFieldPath(name) && now[name] !== usual[name]),
  );
  const view: FormView = {
    type: 'show',
    values: {
      ...now,
      [PACK]: packOf(form),
      ...result.cluster?.texts,
      method: methodOf(form),
      where: isOnCluster(form) ? 'cluster' : 'here',
      source: learnsFromRows(form) ? 'rows' : 'log',
    },
    bases: bases(form, choices),
    sources: sources(form),
    data,
    methods: methodOptions(now),
    devices: deviceOptions(),
    places: isTrainedHere(form) ? [] : whereOptions(),
    ...(result.cluster && { cluster: clusterView(result.cluster, form.values, context.cluster) }),
    groups,
    changed: changed.length + (isOnCluster(form) ? 1 : 0),
    errors: result.errors,
    ...(warmStart && { warmStart }),
    methodReason: warmStart === undefined ? methodReason : '',
    recommendation,
    restriction,
    isEmpty: choices.dialogues === 0 && form.copied === undefined && !playsItself(form),
  };
  return { view, filled: result };
}

/** The recommendation depends on these. */
const choicesOf = ({ base = '', [HUB]: hub = '', method = '' }: Values): Values => ({
  base,
  [HUB]: hub,
  method,
});

function bases(form: Form, { places }: Choices): Option[] {
  const base = baseOf(form);
  const isOther = form.values.base !== HUB && base !== '' && !places.some(({ folder }) => folder === base);
  return [
    ...(form.values.base === undefined || (form.values.base === '' && places.length === 0)
      ? [{ value: '', label: t('Choose…') }]
      : []),
    ...places.map(({ folder, name, ships }) => ({
      value: folder,
      label: name,
      detail: ships ? t('Ships with Tandem; learns in minutes, without a GPU.') : folder,
    })),
    ...(isOther
      ? [{ value: base, label: base, detail: t('A folder in Hugging Face transformers format.') }]
      : []),
    { value: HUB, label: t('Hugging Face model ID…'), detail: t('Downloaded when the run starts.') },
  ];
}

function sources({ copied }: Form): Option[] {
  if (copied === undefined || !learnsFromRows({ values: {}, copied })) return [];
  return [
    { value: 'rows', label: t('The rows of {0}', copied.of), detail: copied.data },
    { value: 'log', label: t('From the log, as it is now') },
  ];
}

/** Proposes the largest pack to a method that plays, until another is chosen. */
function withPack(form: Form, { packFiles }: Choices): Form {
  if (!playsItself(form) || form.values[PACK] !== undefined || packOf(form) !== '') return form;
  const [largest] = packFiles.toSorted((a, b) => b.tasks - a.tasks);
  return largest === undefined ? form : { ...form, values: { ...form.values, [PACK]: largest.file } };
}

function groupsOf(form: Form, untouched: Values): FieldGroup[] {
  const method = METHODS[methodOf(form)];
  const title = (group: string, ofSchema: string): string =>
    group === method.policy && method.settings.length === 1 ? t('Training') : fromSchema(ofSchema, t);
  return [
    { title: t('Run'), fields: settings('', form, untouched) },
    ...Object.entries(GROUPS).map(([name, ofSchema]) => ({
      title: title(name, ofSchema),
      fields: settings(`${name}.`, form, untouched),
    })),
  ].filter(({ fields: ofGroup }) => ofGroup.length > 0);
}

function settings(prefix: string, form: Form, untouched: Values): FieldView[] {
  const { values } = form;
  return SETTINGS.filter((name) => (prefix === '' ? !name.includes('.') : name.startsWith(prefix)))
    .filter((name) => isUsedBy(methodOf(form), name) && (name !== 'model.revision' || values.base === HUB))
    .map((name) => ({
      ...{ name, label: fromSchema(fields[name].title, t), about: fromSchema(fields[name].description, t) },
      ...control(fields[name], untouched[name] ?? ''),
      isChanged: values[name] !== undefined && values[name] !== untouched[name],
    }));
}

function control(field: Field, now: string): Pick<FieldView, 'control' | 'options' | 'placeholder'> {
  const option = (value: string): Option => ({ value, label: choiceWord(value) });
  switch (field.kind) {
    case 'choice':
      return { control: 'choice', options: field.values.map(option) };
    case 'several': {
      const single = ['', ...field.values];
      return { control: 'choice', options: (single.includes(now) ? single : [...single, now]).map(option) };
    }
    case 'flag':
      return field.or === undefined
        ? { control: 'flag' }
        : { control: 'choice', options: [...field.or.map(String), 'true', 'false'].map(option) };
    default:
      return { control: 'text', ...(field.or?.includes(null) === true && { placeholder: t('not set') }) };
  }
}

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
  with_own_code: data.with_own_code,
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
function dataFields(form: Form, choices: Choices): FieldView[] {
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
