import { describe, expect, it, vi } from 'vitest';
import { QUICK } from '../../../../../src/core/evaluation/loop/settings';
import { parseConfiguration } from '../../../../../src/core/training/configuration';
import { chosenBy } from '../../../../../src/core/training/data/prepare';
import type { DataCounts } from '../../../../../src/core/training/data/countData';
import type { Shortage } from '../../../../../src/core/training/data/report';
import { type Choices, SETTINGS, formView } from '../../../../../src/editor/runs/form/view';
import {
  filled,
  textsOf,
  valuesOf,
  type Form,
  type FormContext,
  recommendedOf,
} from '../../../../../src/editor/runs/form/configuration';
import { checksView, dataView, planView } from '../../../../../src/editor/runs/form/estimateView';
import { warmStartView } from '../../../../../src/editor/runs/form/words';
import { dayOf } from '../../../../../src/editor/dialogue/filter';
import { plan } from '../../../../fixtures/plan';

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
  data: '12 dialogues of 6 tasks',
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
        critic: { beta: 3 },
        export: { onnx: ['int8'] },
      },
    });
  });

  it('has what a person has set, as numbers, flags and lists', () => {
    const form = withValues({
      ...{
        'critic.score': 'value-head',
        name: 'mine',
        agent: 'starter',
        stars: '4',
        with_editor_models: 'true',
      },
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

  it('offers a simulator the methods that train it, and keeps a chosen one in sight', () => {
    const offered = (values: Form['values']) =>
      formView(withValues({ role: 'collaborator', ...values }), choices, context()).view.methods.map(
        ({ value }) => value,
      );
    expect(offered({ method: 'rft' })).toEqual(['rft', 'multiturn-dpo', 'grpo']);
    expect(offered({ method: 'sweet-rl' })[0]).toBe('sweet-rl');
  });

  it('plays a pack where the method plays by itself, and takes nothing of the log', async () => {
    const empty = filled(withValues({ method: 'grpo' }), context());
    expect(empty.errors).toEqual({ 'data.tasks': 'Choose the pack whose tasks are played.' });
    const chosen = { method: 'grpo', 'data.tasks': '/project/tasks/starter.jsonl', 'grpo.group': '4' };
    const leaked = 'data.with_leaked';
    const { configuration, errors } = filled(
      withValues({ ...chosen, agent: 'starter', [leaked]: 'true' }),
      context(),
    );
    expect(errors).toEqual({});
    expect(configuration).toMatchObject({ method: 'grpo', grpo: { group: 4 } });
    expect(configuration.data).toEqual({ tasks: ['/project/tasks/starter.jsonl'], with_leaked: true });
    const { data } = formView(withValues({ method: 'grpo' }), choices, context()).view;
    expect(data.filter(({ name }) => [leaked, 'agent'].includes(name)).map(({ name }) => name)).toEqual([
      leaked,
    ]);
    const { selection } = await parseConfiguration(structuredClone(configuration), { from: '', folder: '/' });
    expect(selection).toBeUndefined();
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
    [{ 'critic.beta': '0' }, 'critic.beta'],
    [{ 'critic.beta': '' }, 'critic.beta'],
    [{ 'data.held_out': '1' }, 'data.held_out'],
    [{ 'policy.max_steps': 'x' }, 'policy.max_steps'],
    [{ 'resources.token_budget': '0' }, 'resources.token_budget'],
    [{ base: 'hub', hub: 'qwen' }, 'hub'],
    [{ base: '' }, 'base'],
    [{ since: 'today' }, 'since'],
  ])('has a sentence beside the field for what will not do: %j', (values, field) => {
    expect(filled(withValues(values), context()).errors).toEqual({ [field]: expect.any(String) as string });
  });

  it('of a duplicate is that of the run, with the same rows, until they are taken from the log', () => {
    const named = context({ name: () => 'sweet-rl #1, changed' });
    expect(copy.values).toEqual({ base: '/models/other', method: 'sweet-rl' });
    expect(formView(copy, choices, context()).view.values['critic.score']).toBe('untrained');
    expect(filled(copy, named).configuration).toEqual({
      ...copied.configuration,
      name: 'sweet-rl #1, changed',
    });
    const fromLog = filled({ ...copy, values: { ...copy.values, source: 'log' } }, named);
    expect(fromLog.configuration.data).toEqual({ held_out: 0.2, log: '/project/.tandem' });
    expect(copied.configuration.data.trajectories).toEqual(rows);
  });

  it('from the log keeps preferences of its own, and not the rows of feedback that the run took', () => {
    const preferences = ['/project/.tandem/runs/a/data/feedback.jsonl', '/project/own.jsonl'];
    const configuration = { ...copied.configuration, data: { trajectories: rows, preferences } };
    const form = { values: { ...copy.values, source: 'log' }, copied: { ...copied, configuration } };
    expect(filled(form, context()).configuration.data).toEqual({
      ...{ preferences: ['/project/own.jsonl'], log: '/project/.tandem' },
    });
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
    expect(isSmall).toBe(true);
    expect({
      ...{ critic, candidates, policy },
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
});

describe('what the form shows', () => {
  it('has a field for every setting, and every value that is in force', () => {
    const shown = ['sweet-rl', 'rft', 'distill', 'archer', 'grpo'].flatMap((method) => {
      const { data, groups } = formView(withValues({ method, base: 'hub' }), choices, context()).view;
      return [...data, ...groups.flatMap((group) => group.fields)].map(({ name }) => name);
    });
    for (const name of SETTINGS) expect(shown).toContain(name);
    expect(formView(starter, choices, context()).view.values).toMatchObject({
      ...{ 'critic.beta': '3', 'critic.epochs': '4', 'policy.beta': '0.1', 'policy.max_steps': '' },
      ...{ 'model.device': 'cpu', 'export.onnx': 'int8', method: 'sweet-rl' },
    });
    expect(textsOf(filled(starter, context()))['resources.token_budget']).toBe('auto');
  });

  it('offers the rows of a duplicated run or the log, and filters the log alone', () => {
    const shown = (form: Form): unknown[] => {
      const { sources, data } = formView(form, choices, context()).view;
      return [sources.length, data.some(({ name }) => name === 'agent')];
    };
    expect([copy, starter].map(shown)).toEqual([
      [2, false],
      [0, true],
    ]);
  });

  it('counts the settings that differ from those of a new run, also those of a duplicate', () => {
    const changed = (form: Form): number => formView(form, choices, context()).view.changed;
    expect(changed(starter)).toBe(0);
    expect(changed(withValues({ agent: 'starter', 'policy.epochs': '9', with_redo: 'true' }))).toBe(3);
    expect(changed(withValues({ method: 'rft', 'critic.beta': '9', 'policy.minimum_reward': '0.5' }))).toBe(
      1,
    );
    const differing = [
      ...['critic.score', 'critic.epochs', 'critic.beta', 'data.pairing', 'data.held_out'],
      ...['export.onnx', 'model.training'],
    ];
    expect(changed(copy)).toBe(differing.length);
  });

  it('is empty while the log is, except for a duplicate and for a method that plays by itself', () => {
    const isEmpty = (form: Form): boolean =>
      formView(form, { ...choices, dialogues: 0 }, context()).view.isEmpty;
    expect([starter, copy, withValues({ method: 'grpo' })].map(isEmpty)).toEqual([true, false, false]);
  });
});

describe('a warm start', () => {
  const facts = {
    method: 'sweet-rl' as const,
    ...{ isForeign: true, isSmall: false, played: 0, won: 0, successes: 30 },
  };

  it('is offered to a model that has no success of its own, on those of other agents', () => {
    expect(warmStartView(facts)?.values).toEqual({
      ...{ method: 'rft', agent: '' },
      ...{ 'policy.learning_rate': '5e-4', 'policy.epochs': '8', 'policy.max_steps': '30' },
    });
    const epochs = [93, 3].map(
      (successes) => warmStartView({ ...facts, successes })?.values['policy.epochs'],
    );
    expect(epochs).toEqual(['3', '10']);
    expect(warmStartView({ ...facts, isSmall: true })?.values).toEqual({ method: 'rft', agent: '' });
    expect(warmStartView({ ...facts, method: 'rft' })?.values).toEqual({});
  });

  it.each([{ isForeign: false }, { played: 68, won: 1 }, { successes: 0 }])('is no matter of %j', (other) => {
    expect(warmStartView({ ...facts, ...other })).toBeUndefined();
  });
});

const counts = (fieldsOf: Partial<DataCounts> = {}): DataCounts => ({
  ...{ trajectories: 12, tasks: 6, successes: 3, pairs: 3, turns: 30, tokens: 1200, uncounted: 0 },
  leftOut: { leaked: 2, 'no consent': 1 },
  ...fieldsOf,
});

describe('what would be learned from', () => {
  const told = { configuration: {}, isCounting: false, isCollecting: false, source: '' };

  it('is counted in the log, with what is left out', () => {
    const view = dataView({ ...told, counts: counts() });
    expect(view.summary).toBe('12 dialogues of 6 tasks, 3 successes · 3 left out');
    expect(view.figures.map(({ value }) => value)).toEqual(['3', '30', '1,200']);
    expect(view.leftOut.map(({ count }) => count)).toEqual(['2', '1']);
    const uncounted = dataView({ ...told, counts: counts({ tokens: 0, uncounted: 30 }) });
    expect(uncounted.figures.at(-1)?.value).toBe('–');
  });

  it('has what people left on turns, by signal', () => {
    const view = dataView({ ...told, counts: counts({ feedback: { thumbs: 1_200, choices: 3 } }) });
    expect(view.figures.at(-1)).toMatchObject({ value: '1,203', note: '1,200 thumbs, 3 choices' });
  });

  it.each([
    [{}, '12 dialogues of 6 tasks, 3 successes'],
    [{ leaked: 2 }, '… · left out: 2 in which a reply gave the reference away'],
  ])('names the only reason for what is left out: %j', (leftOut, line) => {
    const { summary } = dataView({ ...told, counts: counts({ leftOut }) });
    expect(summary).toBe(line.replace('…', '12 dialogues of 6 tasks, 3 successes'));
  });

  it.each([
    [4, 'needs 2 more dialogues'],
    [6, ''],
  ])('is replies of people where a simulator is fitted: of %i dialogues, which %s', (trajectories, more) => {
    const configuration = { method: 'rft', role: 'collaborator', policy: { minimum_reward: 0 } };
    const ofPeople = counts({ trajectories, people: 2, successes: 0, leftOut: {} });
    const { summary, problem, remarks } = dataView({ ...told, configuration, counts: ofPeople });
    expect(summary).toBe(`30 replies of 2 people in ${trajectories} dialogues`);
    expect(problem).toBe('');
    expect(remarks).toEqual(
      more === '' ? [] : [expect.stringMatching(/from 6 dialogues on\. Play 2 more\./)],
    );
  });

  it('is a pack where the method plays by itself, then its tasks once they are planned', () => {
    const online = { ...told, configuration: { method: 'grpo' }, source: 'starter.jsonl' };
    expect(dataView(online).summary).toBe('starter.jsonl');
    const { train, held_out: heldOut } = plan.data.policy;
    expect(dataView({ ...online, plan }).summary).toBe(
      `starter.jsonl: ${train} tasks to play, ${heldOut} held out to measure`,
    );
  });

  it.each([
    [{}, { trajectories: 0, pairs: 0 }, /^No dialogues are left to train on/],
    [{}, { pairs: 0 }, /^No task has two dialogues with different rewards/],
    [{ method: 'multiturn-dpo' }, { pairs: 0 }, /^No task has/],
    [{ method: 'multiturn-dpo' }, { trajectories: 0, pairs: 0, feedback: { thumbs: 2 } }, /^$/],
    [{}, { pairs: 0, feedback: { thumbs: 2 } }, /^No task has/],
    [{ method: 'rft' }, { successes: 0 }, /^No dialogue is a success/],
    [{ method: 'rft' }, { pairs: 0 }, /^$/],
    [{ method: 'rft', policy: { minimum_reward: 0.5 } }, { successes: 0 }, /^$/],
    [{ method: 'rft', role: 'collaborator' }, { trajectories: 0 }, /^No replies are left/],
    [{ critic: { score: 'value-head' } }, { pairs: 0 }, /^$/],
  ])('says why %j has nothing to learn from %j', (configuration, fieldsOf, sentence) => {
    expect(dataView({ ...told, configuration, counts: counts(fieldsOf) }).problem).toMatch(sentence);
  });

  it.each<[string, number, RegExp, object?]>([
    ['distill', 19, /^Too few .* Distillation needs 20,.* Collect 1 more/],
    ['distill', 99, /from 50 dialogues, one of each task, .* \+9\.1 \[\+3\.9, \+14\.2\] points/],
    ['distill', 100, /from 100 dialogues, .* \+17\.6 .* in 5 runs\.$/],
    ['sweet-rl', 50, /from 20 dialogues, .* \+10\.5 .* in 3 runs\.$/, { score: 'answer-now' }],
    [
      'sweet-rl',
      120,
      /^With fewer than 600 dialogues only Distillation .* \+17\.6 .* from 100, .* Choose it, or collect 480 more\./,
    ],
  ])('says of %s from %i dialogues what was measured', (method, trajectories, remark, critic = {}) => {
    const configuration = { method, critic };
    const { remarks } = dataView({ ...told, configuration, counts: counts({ trajectories }) });
    expect(remarks).toEqual([expect.stringMatching(remark)]);
  });

  it.each<['sweet-rl' | 'rft', Shortage['kind'], number, number, RegExp]>([
    ['sweet-rl', 'pairs', 8, 300, / 8 pairs.* 300/],
    ['sweet-rl', 'held_out_pairs', 1, 16, /^1 pair .* 16 /],
    ['rft', 'successes', 9, 140, /^9 dialogues.* 140/],
    ['sweet-rl', 'token_ids', 20, 30, /^10 of 30 turns/],
    ['sweet-rl', 'tokenizer', 0, 30, /^30 of 30 turns/],
  ])('says of a plan for %s what else is too little: %s', (method, kind, have, enough, remark) => {
    const shortages = [{ kind, have, enough, sentence: '' }];
    const view = dataView({
      ...{ ...told, configuration: { method }, counts: counts({ trajectories: 600 }) },
      plan: { ...plan, data: { ...plan.data, shortages } },
    });
    expect(view.remarks).toEqual([expect.stringMatching(remark)]);
  });
});

describe('what a run needs', () => {
  it('is said in one line and in full', () => {
    const view = planView(plan, []);
    expect(view.summary).toBe('about 3 min · 900 MB of 14.0 GB · CPU');
    expect(view.rows.map(({ value }) => value)).toEqual([
      '900 MB of 14.0 GB',
      'about 3 min, measured (critic 1 min 40 s, candidates 1 min 20 s, ranking <1 s)',
      ...['50 MB', 'CPU, float32', '400 tokens; 4,096 would fit'],
    ]);
  });

  it('says what would help where it does not fit', () => {
    const advice = ['set model.training to qlora'];
    const view = planView({ ...plan, fits: false, advice }, []);
    expect(view).toMatchObject({ fits: false, advice });
    expect(view.summary).toContain('900 MB of 14.0 GB: too much');
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
