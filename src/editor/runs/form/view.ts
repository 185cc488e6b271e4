import type { Grouping } from '../../../core/evaluation/statistics';
import { fields, isFieldPath, type Field, type FieldPath } from '../../../core/training/fields';
import { SHORT } from '../../../core/dialogue/prompts';
import type { SharedValue } from '../../../core/trajectory/log';
import { reviewFilters } from '../../../core/trajectory/index/filter';
import { grouped } from '../../../core/text';
import { runSchema } from '../../../core/training/schema';
import type {
  FieldGroup,
  FieldView,
  FormView,
  Option,
  Values,
  WarmStartView,
} from '../../../../webview/newRun/protocol';
import { reviewName, starsWords } from '../../trajectories/filter';
import type { Translate } from '../../translate';
import { clusterView, whereOptions } from './cluster';
import {
  baseOf,
  filled,
  HUB,
  learnsFromLog,
  learnsFromRows,
  isOnCluster,
  isSetBy,
  methodOf,
  PACK,
  packOf,
  playsItself,
  textsOf,
  type Filled,
  type Form,
  type FormContext,
} from './configuration';
import { METHODS, choiceWord, deviceOptions, methodOptions } from './words';

// Titles and descriptions are the schema's, in English; translators get them from there.
const data = runSchema.properties.data.properties;
const filter = data.filter.properties;

/** Fields outside *More*, or beside the filters of the log. */
const ELSEWHERE: readonly FieldPath[] = [
  ...(['method', 'model.base', 'model.device', 'critic.score'] as const),
  ...(['data.with_leaked', 'data.with_doubtful'] as const),
];

export const SETTINGS: readonly FieldPath[] = (Object.keys(fields) as FieldPath[]).filter(
  (path) => !ELSEWHERE.includes(path),
);

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

export const TASKS = data.tasks;

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

interface ShownForm {
  readonly view: FormView;
  readonly filled: Filled;
}

export function formView(
  given: Form,
  choices: Choices,
  context: FormContext & {
    readonly restriction: string;
    readonly recommendation: string;
    readonly warmStart?: WarmStartView;
  },
): ShownForm {
  const { t, restriction, recommendation, warmStart } = context;
  const form = withPack(given, choices);
  const result = filled(form, context);
  // Other values than these are marked as changed.
  const untouched = textsOf(filled({ ...form, values: choicesOf(form.values) }, context));
  // Of a duplicate, the settings that differ from a new run's are counted.
  const usual = textsOf(filled({ values: choicesOf(form.values) }, context));
  const now = textsOf(result);
  const data = dataFields(form, choices, untouched, t);
  const groups = groupsOf(form, untouched, t);
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
    bases: bases(form, choices, t),
    sources: sources(form, t),
    data,
    methods: methodOptions(t),
    devices: deviceOptions(t),
    // A method that plays by itself trains on this machine.
    places: playsItself(form) ? [] : whereOptions(t),
    ...(result.cluster && { cluster: clusterView(result.cluster, form.values, context.cluster, t) }),
    groups,
    changed: changed.length + (isOnCluster(form) ? 1 : 0),
    errors: result.errors,
    ...(warmStart && { warmStart }),
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

function bases(form: Form, { places }: Choices, t: Translate): Option[] {
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

function sources({ copied }: Form, t: Translate): Option[] {
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

function packs(form: Form, { packFiles }: Choices, t: Translate): FieldView {
  const ofSchema = t;
  const { title, description } = TASKS;
  const chosen = packOf(form);
  const isOther = chosen !== '' && !packFiles.some(({ file }) => file === chosen);
  return {
    ...{
      name: PACK,
      label: ofSchema(title),
      about: ofSchema(description),
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

function filters(values: Values, choices: Choices, t: Translate): FieldView[] {
  const any = { value: '', label: t('Any') };
  // The test that collects sentences for translators takes these from the schema, not from here.
  const ofSchema = t;
  const field = (name: keyof typeof LISTS, options: readonly Option[]): FieldView => ({
    ...{ name, label: ofSchema(LISTS[name].title), about: '' },
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
      ...{ name: 'opening', label: ofSchema(LISTS.opening.title), control: 'choice' },
      about: t('Use the same prompt when playing (“Prompt Folder” = short).'),
      options: [
        { value: '', label: t('As Tandem ships it') },
        { value: SHORT, label: t('Short, for small models') },
      ],
      isChanged: (values.opening ?? '') !== '',
    },
    ...Object.entries(FLAGS).map(([name, { title, description }]) =>
      flag(name, { label: ofSchema(title), about: ofSchema(description) }, values),
    ),
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

function dataFields(form: Form, choices: Choices, untouched: Values, t: Translate): FieldView[] {
  const ofSchema = t;
  const { title, description } = data.with_leaked;
  const words = { label: ofSchema(title), about: ofSchema(description) };
  const chosen = playsItself(form)
    ? [packs(form, choices, t), flag('data.with_leaked', words, form.values)]
    : learnsFromLog(form)
      ? filters(form.values, choices, t)
      : [];
  return [...chosen, ...settings('data.', form, untouched, t)];
}

function groupsOf(form: Form, untouched: Values, t: Translate): FieldGroup[] {
  const titles = {
    '': t('Run'),
    'model.': t('Model'),
    'grpo.': 'GRPO',
    'critic.': t('Critic'),
    'candidates.': t('Candidates'),
    'policy.': METHODS[methodOf(form)].method === 'sweet-rl' ? t('Policy') : t('Training'),
    'resources.': t('Resources'),
    'export.': t('Result'),
  };
  return Object.entries(titles)
    .map(([prefix, title]) => ({ title, fields: settings(prefix, form, untouched, t) }))
    .filter(({ fields: ofGroup }) => ofGroup.length > 0);
}

function settings(prefix: string, form: Form, untouched: Values, t: Translate): FieldView[] {
  const ofSchema = t;
  const { values } = form;
  return SETTINGS.filter((name) => (prefix === '' ? !name.includes('.') : name.startsWith(prefix)))
    .filter((name) => isSetBy(methodOf(form), name) && (name !== 'model.revision' || values.base === HUB))
    .map((name) => ({
      ...{ name, label: ofSchema(fields[name].title), about: ofSchema(fields[name].description) },
      ...control(fields[name], untouched[name] ?? '', t),
      isChanged: values[name] !== undefined && values[name] !== untouched[name],
    }));
}

function control(
  field: Field,
  now: string,
  t: Translate,
): Pick<FieldView, 'control' | 'options' | 'placeholder'> {
  const option = (value: string): Option => ({ value, label: choiceWord(value, t) });
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
