import { describe, expect, it, vi } from 'vitest';
import { QUICK } from '../../../../../src/core/evaluation/loop/settings';
import { parseConfiguration } from '../../../../../src/core/training/configuration';
import { chosenBy } from '../../../../../src/core/training/data/chosen';
import type { DataCounts } from '../../../../../src/core/training/data/count';
import type { Shortage } from '../../../../../src/core/training/data/trainedOn';
import { fields } from '../../../../../src/core/training/fields';
import { SETTINGS } from '../../../../../src/editor/runs/form/settings';
import {
  filled,
  textsOf,
  valuesOf,
  type Form,
  type FormContext,
} from '../../../../../src/editor/runs/form/configuration';
import { extentOf } from '../../../../../src/editor/collecting/extent';
import { recommendedOf } from '../../../../../src/editor/runs/form/bases';
import { checksView, dataView, planView } from '../../../../../src/editor/runs/form/tellings';
import { formView, type Choices } from '../../../../../src/editor/runs/form/view';
import { warmStartView } from '../../../../../src/editor/runs/form/warmStart';
import { recommendationWords, wantedWords } from '../../../../../src/editor/runs/form/words';
import { dayOf } from '../../../../../src/editor/trajectories/filter';
import { plan } from '../../../../fixtures/plan';
import { english } from '../../translate';

vi.mock('vscode', () => import('../../vscode'));

const context = (
  fieldsOf: Partial<FormContext> = {},
): FormContext & { restriction: string; recommendation: string } => ({
  recommended: {
    model: { base: '/models/starter', training: 'full', device: 'cpu' },
    data: { pairing: 'all' },
    critic: { beta: 3 },
    export: { onnx: ['int8'] },
  },
  dataFolder: '/project/.tandem',
  name: (method) => `${method} #4`,
  cluster: { state: 'none' },
  t: english,
  restriction: '',
  recommendation: '',
  ...fieldsOf,
});

const choices: Choices = {
  places: [{ folder: '/models/starter', name: 'starter', ships: true }],
  packs: [{ value: 'Starter', count: 12 }],
  packFiles: [{ file: '/project/tasks/starter.jsonl', name: 'starter', tasks: 24 }],
  agents: [{ value: 'starter', count: 12 }],
  collaborators: [],
  called: (value) => (value === 'openai:tiny' ? 'Lab' : value),
  dialogues: 12,
};

const starter: Form = { values: { base: '/models/starter' } };
const withValues = (values: Form['values']): Form => ({ values: { ...starter.values, ...values } });
const rows = ['/project/.tandem/runs/a/data/trajectories.jsonl'];
const copied = {
  of: 'sweet-rl #1',
  data: '12 trajectories of 6 tasks',
  configuration: {
    name: 'sweet-rl #1',
    method: 'sweet-rl',
    model: { base: '/models/other', template_options: { enable_thinking: false } },
    data: { trajectories: rows, held_out: 0.2 },
    critic: { score: 'untrained', epochs: 2 },
  },
};
const copy: Form = { values: valuesOf(copied.configuration), copied };

describe('the configuration of a form', () => {
  it('is what was found to work for the model, on the log, where nothing is set', () => {
    expect(filled(starter, context())).toEqual({
      errors: {},
      configuration: {
        name: 'sweet-rl #4',
        method: 'sweet-rl',
        model: { base: '/models/starter', training: 'full', device: 'cpu' },
        data: { pairing: 'all', log: '/project/.tandem' },
        critic: { beta: 3, score: 'log-ratio' },
        export: { onnx: ['int8'] },
      },
    });
  });

  it('has what a person has set, as numbers, flags and lists', () => {
    const form = withValues({
      ...{ method: 'value-head', name: 'mine', agent: 'starter', stars: '4', with_editor_models: 'true' },
      ...{ 'critic.beta': '0.5', 'policy.max_steps': '', 'data.with_leaked': 'true', 'export.onnx': '' },
      ...{ since: '2026-03-01', until: '2026-03-01', pack: '', review: 'accepted', with_redo: 'true' },
    });
    const { configuration, errors } = filled(form, context());
    expect(errors).toEqual({});
    expect(configuration).toMatchObject({
      ...{ name: 'mine', method: 'sweet-rl' },
      critic: { beta: 0.5, score: 'value-head' },
      policy: { max_steps: null },
      export: { onnx: [] },
      data: {
        ...{ with_leaked: true, with_redo: true, exclude_models: [] },
        filter: { agent: 'starter', stars: 4, review: 'accepted' },
      },
    });
    const { filter } = configuration.data as { filter: Record<string, string> };
    expect(filter).not.toHaveProperty('pack');
    expect(Date.parse(filter.until!) - Date.parse(filter.since!)).toBe(24 * 3600 * 1000);
    expect(dayOf(Date.parse(filter.since!))).toBe('2026-03-01');
  });

  it('plays a pack where the method plays by itself, and takes nothing of the log', async () => {
    const empty = filled(withValues({ method: 'grpo' }), context());
    expect(empty.errors).toEqual({ 'data.tasks': 'Choose the pack whose tasks are played.' });
    const chosen = { method: 'grpo', 'data.tasks': '/project/tasks/starter.jsonl', 'grpo.group': '4' };
    const { configuration, errors } = filled(withValues({ ...chosen, agent: 'starter' }), context());
    expect(errors).toEqual({});
    expect(configuration).toMatchObject({ method: 'grpo', grpo: { group: 4 } });
    expect(configuration.data).toEqual({ pairing: 'all', tasks: ['/project/tasks/starter.jsonl'] });
    const { selection } = await parseConfiguration(structuredClone(configuration), { from: '', folder: '/' });
    expect(selection).toBeUndefined();
  });

  it('has the pack of a duplicated run, until another method is chosen', () => {
    const configuration = { method: 'grpo', data: { tasks: ['/runs/a/data/tasks/1-mine.jsonl'] } };
    const form: Form = {
      values: { ...starter.values, method: 'grpo' },
      copied: { of: 'grpo #1', data: '', configuration },
    };
    expect(filled(form, context()).configuration.data).toEqual(configuration.data);
    const { view } = formView(form, choices, context());
    expect(view.filters.map(({ name, options }) => [name, options!.map(({ value }) => value)])).toEqual([
      ['data.tasks', ['/project/tasks/starter.jsonl', '/runs/a/data/tasks/1-mine.jsonl']],
    ]);
    const other = filled({ ...form, values: { ...form.values, method: 'rft' } }, context());
    expect(other.configuration.data).toEqual({ log: '/project/.tandem' });
  });

  it('is one that `tandem train` reads', async () => {
    const { configuration } = filled(
      withValues({ since: '2026-03-01', stars: '0', review: 'none', with_redo: 'true' }),
      context(),
    );
    const { selection } = await parseConfiguration(structuredClone(configuration), { from: '', folder: '/' });
    expect(selection).toMatchObject({ log: '/project/.tandem', filter: { stars: 0, review: 'none' } });
    expect(chosenBy(selection!)).toMatchObject({ withRedo: true, filter: { stars: 0, review: 'none' } });
  });

  it.each([
    [{ 'critic.beta': '0' }, 'critic.beta', 'Enter a number above 0.'],
    [{ 'critic.beta': '' }, 'critic.beta', 'Enter a number above 0.'],
    [{ 'data.held_out': '1' }, 'data.held_out', 'Enter a number of at least 0 and below 1.'],
    [{ 'candidates.per_turn': '1' }, 'candidates.per_turn', 'Enter a whole number of at least 2.'],
    [
      { 'policy.max_steps': 'x' },
      'policy.max_steps',
      'Enter a whole number of at least 1. Or leave it empty.',
    ],
    [
      { 'resources.token_budget': '0' },
      'resources.token_budget',
      'Enter a whole number of at least 1. Or auto.',
    ],
    [{ base: 'hub', hub: 'qwen' }, 'hub', 'Enter the ID as owner/name, e.g. Qwen/Qwen2.5-1.5B-Instruct.'],
    [{ base: '' }, 'base', 'Choose the model that learns.'],
    [{ since: 'today' }, 'since', 'Enter the day as year-month-day, e.g. 2026-03-01, or leave it empty.'],
  ])('has a sentence beside the field for what will not do: %j', (values, field, sentence) => {
    expect(filled(withValues(values), context()).errors).toEqual({ [field]: sentence });
  });

  it('has a revision where the model is a name on the hub, and none beside a folder', () => {
    const named = { base: 'hub', hub: 'Qwen/Qwen2.5-1.5B-Instruct', 'model.revision': 'v1' };
    expect(filled(withValues(named), context()).configuration.model).toMatchObject({ revision: 'v1' });
    const empty = filled(withValues({ ...named, 'model.revision': '' }), context());
    expect(empty).toMatchObject({ errors: {}, configuration: { model: { revision: null } } });
    const local = filled(withValues({ 'model.revision': 'v1' }), context());
    expect(local.configuration.model).not.toHaveProperty('revision');
    const shows = (form: Form): boolean =>
      formView(form, choices, context()).view.groups.some(({ fields: of }) =>
        of.some(({ name }) => name === 'model.revision'),
      );
    expect([shows(withValues(named)), shows(starter)]).toEqual([true, false]);
  });

  it('of a duplicate is that of the run, with the same rows, until they are taken from the log', () => {
    const named = context({ name: () => 'sweet-rl #1, changed' });
    expect(copy.values).toEqual({ base: '/models/other', method: 'untrained' });
    expect(filled(copy, named).configuration).toEqual({
      ...copied.configuration,
      name: 'sweet-rl #1, changed',
    });
    const fromLog = filled({ ...copy, values: { ...copy.values, source: 'log' } }, named);
    expect(fromLog.configuration.data).toEqual({ held_out: 0.2, log: '/project/.tandem' });
    expect(copied.configuration.data.trajectories).toEqual(rows);
  });
});

describe('what is recommended', () => {
  it('for the starter model is what the quick loop trains it with', async () => {
    const { configuration: recommended, isSmall } = await recommendedOf('/models/starter', 2_000_000);
    const { configuration } = filled(
      withValues({ pack: 'starter-world-train-1.jsonl', agent: 'starter' }),
      context({ recommended }),
    );
    const { critic, candidates, policy, model, data } = configuration as typeof QUICK.training;
    const { score, ...criticSettings } = critic as { readonly score: string };
    expect(isSmall).toBe(true);
    expect(score).toBe('log-ratio');
    expect({
      ...{ critic: criticSettings, candidates, policy },
      model: { ...model, base: undefined },
      data: { ...data, log: undefined, filter: undefined },
    }).toEqual({
      ...QUICK.training,
      model: { ...QUICK.training.model, base: undefined },
      data: { ...QUICK.training.data, log: undefined, filter: undefined },
    });
  });

  it('for a large model, or one of unknown size, is left to the trainer', async () => {
    for (const size of [0, 3_000_000_000]) {
      const { configuration, isSmall } = await recommendedOf('/models/large', size);
      expect(isSmall).toBe(false);
      expect(configuration).toEqual({
        model: { base: '/models/large' },
        data: {},
        export: { onnx: ['int8'] },
      });
    }
  });

  it.each([
    [{ isSmall: true, ships: true, copied: undefined }, /^Recommended for the starter model: .* 1,600 dial/],
    [{ isSmall: true, ships: false, copied: undefined }, /^Recommended for small models/],
    [{ isSmall: false, ships: false, copied: undefined }, /^The trainer’s own settings/],
    [{ isSmall: true, ships: true, copied: 'sweet-rl #1' }, /^As in sweet-rl #1$/],
  ])('says why: %j', (about, sentence) => {
    expect(recommendationWords(about, english)).toMatch(sentence);
  });
});

describe('what the form shows', () => {
  it('has a label and a sentence for every setting, and every value that is in force', () => {
    for (const name of SETTINGS) expect(fields[name].title.length, name).toBeGreaterThan(2);
    const shown = ['sweet-rl', 'rft', 'grpo'].flatMap((method) => {
      const { groups } = formView(withValues({ method, base: 'hub' }), choices, context()).view;
      return groups.flatMap((group) => group.fields.map(({ name, label, about }) => [name, label, about]));
    });
    for (const name of SETTINGS)
      expect(shown).toContainEqual([name, fields[name].title, fields[name].description]);
    const { view } = formView(starter, choices, context());
    expect(view.values).toMatchObject({
      ...{ 'critic.beta': '3', 'critic.epochs': '4', 'policy.beta': '0.1', 'policy.max_steps': '' },
      ...{ 'model.device': 'cpu', 'export.onnx': 'int8', method: 'sweet-rl' },
    });
    expect(textsOf(filled(starter, context()))['resources.token_budget']).toBe('auto');
  });

  it.each([
    ['sweet-rl', ['Run', 'Model', 'Data', 'Critic', 'Candidates', 'Policy', 'Resources', 'Result']],
    ['untrained', ['Run', 'Model', 'Data', 'Candidates', 'Policy', 'Resources', 'Result']],
    ['rft', ['Run', 'Model', 'Data', 'Training', 'Resources', 'Result']],
    ['grpo', ['Run', 'Model', 'Data', 'GRPO', 'Resources', 'Result']],
  ])('has the settings that %s reads', (method, titles) => {
    const { view } = formView(withValues({ method }), choices, context());
    expect(view.groups.map(({ title }) => title)).toEqual(titles);
  });

  it('says which settings are not as recommended', () => {
    const { view } = formView(withValues({ 'critic.beta': '1', 'critic.epochs': '4' }), choices, context());
    expect(view.changed).toBe(1);
    const all = view.groups.flatMap((group) => group.fields);
    expect(all.filter(({ isChanged }) => isChanged).map(({ name }) => name)).toEqual(['critic.beta']);
  });

  it('offers the models with weights, the folder that was chosen, and the hub', () => {
    const { view } = formView({ values: { base: '/elsewhere' } }, choices, context());
    expect(view.bases.map(({ value }) => value)).toEqual(['/models/starter', '/elsewhere', 'hub']);
  });

  it('offers the rows of a duplicated run or the log, and filters the log alone', () => {
    const { view } = formView(copy, choices, context());
    expect(view.sources.map(({ label }) => label)).toEqual([
      'The rows of sweet-rl #1',
      'From the log, as it is now',
    ]);
    expect(view.filters).toEqual([]);
    expect(formView(starter, choices, context()).view.sources).toEqual([]);
  });

  it('proposes the largest pack of the workspace to GRPO, until another is chosen', () => {
    const small = { file: '/project/tasks/small.jsonl', name: 'small', tasks: 3 };
    const two = { ...choices, packFiles: [small, ...choices.packFiles] };
    const packOfForm = (values: Form['values']) => {
      const { view, filled: made } = formView(withValues({ method: 'grpo', ...values }), two, context());
      const pack = view.values['data.tasks'];
      expect(made.configuration).toMatchObject({ data: { tasks: [pack] } });
      return pack;
    };
    expect(packOfForm({})).toBe('/project/tasks/starter.jsonl');
    expect(packOfForm({ 'data.tasks': small.file })).toBe(small.file);
  });

  it('is empty while the log is, except for a duplicate and for a method that plays by itself', () => {
    const none = { ...choices, dialogues: 0 };
    expect(formView(starter, none, context()).view.isEmpty).toBe(true);
    expect(formView(copy, none, context()).view.isEmpty).toBe(false);
    expect(
      formView({ ...starter, values: { ...starter.values, method: 'grpo' } }, none, context()).view.isEmpty,
    ).toBe(false);
  });

  it('keeps a value in sight of which the log has none any more, by its name', () => {
    const { view } = formView(withValues({ agent: 'openai:tiny' }), choices, context());
    const agent = view.filters.find(({ name }) => name === 'agent');
    expect(agent?.options?.map(({ label }) => label)).toEqual(['Any', 'starter (12)', 'Lab (0)']);
    expect(agent?.options?.at(-1)?.value).toBe('openai:tiny');
  });

  it('has words for every kind of field', () => {
    for (const field of Object.values(fields))
      expect(wantedWords(field, english)).toMatch(/^(Enter|Choose) /);
  });
});

describe('a warm start', () => {
  const facts = {
    method: 'sweet-rl',
    isForeign: true,
    played: 0,
    won: 0,
    successes: 30,
    isSmall: false,
  } as const;

  it('is offered to a model that has no success of its own, on those of other agents', () => {
    expect(warmStartView(facts, english)).toEqual({
      sentence:
        'This model has no dialogue of its own in this log. Begin with a warm start: rejection fine-tuning on the 30 successes of other agents teaches it to ask and to answer; then train its result by SWEET-RL.',
      values: {
        ...{ method: 'rft', agent: '' },
        ...{ 'policy.learning_rate': '5e-4', 'policy.epochs': '8', 'policy.max_steps': '30' },
      },
    });
    expect(warmStartView({ ...facts, successes: 93 }, english)!.values).toMatchObject({
      'policy.epochs': '3',
    });
    expect(warmStartView({ ...facts, successes: 3 }, english)!.values).toMatchObject({
      'policy.epochs': '10',
    });
    expect(warmStartView({ ...facts, isSmall: true }, english)!.values).toEqual({ method: 'rft', agent: '' });
    expect(warmStartView({ ...facts, played: 68 }, english)!.sentence).toMatch(
      /^None of this model’s own 68 dialogues is a success\. Begin/,
    );
  });

  it('says where it leads as soon as it is chosen', () => {
    expect(warmStartView({ ...facts, method: 'rft' }, english)).toEqual({
      sentence: expect.stringMatching(/train that by SWEET-RL\.$/) as string,
      values: {},
    });
  });

  it.each([{ isForeign: false }, { played: 68, won: 1 }, { successes: 0 }])('is no matter of %j', (other) => {
    expect(warmStartView({ ...facts, ...other }, english)).toBeUndefined();
  });

  it('can be told in the short request for small models', () => {
    const opening = (form: Form): unknown =>
      (filled(form, context()).configuration.data as { opening?: string }).opening;
    expect([opening(withValues({ opening: 'short' })), opening(withValues({ opening: '' }))]).toEqual([
      'short',
      undefined,
    ]);
    const { view } = formView(starter, choices, context());
    expect(view.filters.find(({ name }) => name === 'opening')?.options).toHaveLength(2);
  });
});

const counts = (fieldsOf: Partial<DataCounts> = {}): DataCounts => ({
  ...{ trajectories: 12, tasks: 6, successes: 3, pairs: 3, turns: 30, tokens: 1200, uncounted: 0 },
  leftOut: { leaked: 2, 'no consent': 1 },
  ...fieldsOf,
});

describe('what would be learned from', () => {
  const told = { method: 'sweet-rl', isCounting: false, isCollecting: false } as const;
  const values = (view: ReturnType<typeof dataView>): string[] =>
    view.figures.map(({ label, value, note }) => `${label} ${value} ${note}`);

  it('is counted in the log, with what is left out and why', () => {
    const view = dataView({ ...told, counts: counts() }, english);
    expect(values(view)).toEqual([
      'Trajectories 12 of 6 tasks',
      'Successes 3 pass all tests',
      'Pairs 3 better and worse',
      'Turns 30 of the agent',
      'Tokens 1,200 as sampled',
    ]);
    expect(view.leftOut).toEqual([
      { reason: 'in which a reply gave the reference away', count: '2' },
      { reason: 'without the participant’s consent', count: '1' },
    ]);
  });

  it('is what the trainer has counted, as soon as there is a plan', () => {
    const view = dataView({ ...told, counts: counts(), plan }, english);
    expect(values(view)).toContain('Pairs 3 1 held out for evaluation');
    expect(values(view)).toContain('Tokens 1,300 as the model tokenizes them');
  });

  it('says no number of tokens that nobody knows', () => {
    const some = dataView({ ...told, counts: counts({ uncounted: 2 }) }, english);
    expect(values(some)).toContain('Tokens over 1,200 counted when the run is planned');
    const none = dataView({ ...told, counts: counts({ tokens: 0, uncounted: 30 }) }, english);
    expect(values(none)).toContain('Tokens – counted when the run is planned');
  });

  it.each([
    ['sweet-rl', { trajectories: 0, pairs: 0 }, /^No dialogues are left to train on/],
    ['sweet-rl', { pairs: 0 }, /^No task has two dialogues with different rewards/],
    ['multiturn-dpo', { pairs: 0 }, /^No task has/],
    ['rft', { successes: 0 }, /^No dialogue is a success/],
    ['rft', { pairs: 0 }, /^$/],
    ['value-head', { pairs: 0 }, /^$/],
  ] as const)('says why %s has nothing to learn from %j', (method, fieldsOf, sentence) => {
    expect(dataView({ ...told, method, counts: counts(fieldsOf) }, english).problem).toMatch(sentence);
  });

  it('says when they are too few to expect a better agent, and how many more there should be', () => {
    const remarks = (trajectories: number): readonly string[] =>
      dataView({ ...told, counts: counts({ trajectories }) }, english).remarks;
    expect(remarks(120)).toEqual([expect.stringMatching(/^These 120 are too few .* 480 more/)]);
    expect([...remarks(0), ...remarks(600)]).toEqual([]);
  });

  it('says of a plan what else is too little, with the number at hand and the one that is enough', () => {
    const remarks = (method: 'sweet-rl' | 'rft' | 'multiturn-dpo', ...shortages: Shortage[]) =>
      dataView(
        {
          ...{ ...told, method, counts: counts({ trajectories: 600 }) },
          plan: { ...plan, data: { ...plan.data, shortages } },
        },
        english,
      ).remarks;
    const short = (kind: Shortage['kind'], have: number, enough: number): Shortage => ({
      ...{ kind, have, enough, sentence: '' },
    });
    expect(remarks('sweet-rl', short('pairs', 8, 300), short('held_out_pairs', 1, 16))).toEqual([
      'The critic would learn from 8 pairs: a better agent was measured with 300. Collect several dialogues of more tasks, or choose other pairs under “More settings”.',
      '1 pair is held out: from 16 on, accuracy tells learning from chance. Collect dialogues of more tasks, or raise the held-out fraction.',
    ]);
    expect(remarks('multiturn-dpo', short('pairs', 1, 300))[0]).toMatch(
      /^The agent would learn from 1 pair: /,
    );
    expect(remarks('rft', short('successes', 9, 140))[0]).toMatch(
      /^9 dialogues to imitate: .* with 140\. Collect/,
    );
    const ofTurns = [short('token_ids', 20, 30), short('tokenizer', 0, 30)];
    expect(remarks('sweet-rl', ...ofTurns)).toEqual([
      expect.stringMatching(/^10 of 30 turns come without token ids: .* Gains were measured with the ids/),
      expect.stringMatching(/^30 of 30 turns have the token ids of another tokenizer/),
    ]);
    expect(remarks('rft', ...ofTurns)[0]).toMatch(/which is how a warm start was measured\.$/);
    // The remark about the log is there before the plan.
    expect(remarks('sweet-rl', short('dialogues', 12, 600))).toEqual([]);
  });
});

describe('what a run needs', () => {
  it('is said in one line and in full', () => {
    const view = planView(plan, [], { t: english });
    expect(view.summary).toBe('about 3 min · 900 MB of 14.0 GB · CPU');
    expect(view.rows.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      'Memory: 900 MB of 14.0 GB',
      'Time: about 3 min, measured',
      '· critic: 1 min 40 s',
      '· candidates: 1 min 20 s',
      '· ranking: <1 s',
      'Disk: 50 MB',
      'Device: CPU, float32',
      'Max. example length: 400 tokens; 4,096 would fit',
    ]);
  });

  it('is told of each of several processes', () => {
    const workers = {
      ...plan,
      machine: { ...plan.machine, processes: 4, measured: false },
      total_seconds: null,
    };
    const there = planView(workers, [], { t: english, isOnCluster: true });
    expect(there.sentence).toBe('It fits the nodes of the cluster.');
    expect(there.rows[0]!.value).toMatch(/ for each of 4 workers$/);
    expect(there.rows[1]).toEqual({
      ...{ label: 'Time', value: 'unknown until the run has measured it on the cluster' },
    });
    const several = planView({ ...plan, machine: { ...plan.machine, processes: 2 } }, [], { t: english });
    expect(several.summary).toBe('about 3 min · 900 MB of 14.0 GB for each of 2 processes · CPU');
    expect(several.rows[0]!.value).toBe('900 MB of 14.0 GB for each of 2 processes');
  });

  it('says what would help where it does not fit', () => {
    const view = planView({ ...plan, fits: false, advice: ['set model.training to qlora'] }, [], {
      t: english,
    });
    expect(view).toMatchObject({ fits: false, sentence: 'It does not fit this machine.' });
    expect(view.summary).toContain('900 MB of 14.0 GB: too much');
    expect(view.advice).toEqual(['set model.training to qlora']);
  });

  it('has of each check that is not well the command, the output and the remedy', () => {
    const check = (name: string, status: 'ok' | 'warning' | 'failed') => ({
      ...{ name, status, command: `look at ${name}`, saw: 'nothing', remedy: `mend ${name}` },
    });
    const view = checksView([check('disk', 'warning'), check('python', 'ok'), check('driver', 'failed')]);
    expect(view).toEqual([
      { name: 'driver', isFailed: true, command: 'look at driver', saw: 'nothing', remedy: 'mend driver' },
      { name: 'disk', isFailed: false, command: 'look at disk', saw: 'nothing', remedy: 'mend disk' },
    ]);
  });
});

describe('what the simulator plays', () => {
  const tasks = Array.from({ length: 30 }, (_, number) => ({ id: `task#${number}` }));
  const played = (of: readonly { readonly id: string }[]): string[] =>
    of.flatMap(({ id }) => Array.from({ length: 4 }, (_, rollout) => `${id}#${rollout}`));
  const extent = (keys: readonly string[]): [number, number] => {
    const { tasks: some, rollouts } = extentOf(tasks, keys, 24);
    return [some.length, rollouts];
  };

  it('are more tasks each time, then more dialogues of each', () => {
    expect(extent([])).toEqual([24, 4]);
    expect(extent(played(tasks.slice(0, 23)))).toEqual([24, 4]);
    expect(extent(played(tasks.slice(0, 24)))).toEqual([30, 7]);
  });

  it('are all tasks of a small pack, four times each, where many are suggested', () => {
    const suggested = (keys: readonly string[]): [number, number] => {
      const { tasks: some, rollouts } = extentOf(tasks, keys, 400);
      return [some.length, rollouts];
    };
    expect(suggested([])).toEqual([30, 4]);
    expect(suggested(played(tasks))).toEqual([30, 8]);
  });

  it('does not count dialogues of tasks that no pack has any more', () => {
    const gone = Array.from({ length: 100 }, (_, number) => ({ id: `gone#${number}` }));
    expect(extent(played(gone))).toEqual([24, 4]);
    expect(extent([...played(gone), ...played(tasks.slice(0, 24))])).toEqual([30, 7]);
  });
});
