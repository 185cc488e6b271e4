import type { Interval } from '../../src/core/evaluation/interval';
import { percent, points, rate } from '../../src/core/evaluation/words';
import { cell, markdownTable } from '../../src/core/markdown';
import type { OverSeeds } from './seeds';
import type { Attempt } from './attemptFile';
import type { Board } from './board';
import type { Choice } from './choice';
import type { Credit } from './credit';
import { common, type Plan } from './plan';
import type { ScoreQuality } from './quality';
import { MIN_SEEDS, SAMPLINGS, type Difference, type Row, type Side, type Table, type Target } from './table';

/** Names of the players for the head of the page. */
export interface Players {
  readonly start: string;
  readonly simulator: string;
}

/** Returns the scoreboard as a Markdown page; its pictures lie beside it. */
export function pageOf(board: Board, table: Table, plan: Plan, players: Players): string {
  return [
    `# Scoreboard${plan.name === 'quick' ? ', quick' : ''}`,
    introduction(board, plan, players),
    '## Success on the test split',
    '![Success with intervals per method and seed](success.svg)',
    rowsOf(table.rows),
    'In brackets: 95 % intervals over training seeds and tasks. Per dialogue: turns, hidden decisions missed, useless ' +
      'questions, tokens and seconds of the sampled play; exhausted: dialogues that ran out of turns, sampled and greedy. Training: minutes as they passed, two runs at once. ' +
      'They do not compare methods: what several runs need, such as log-probabilities of the reference and first ' +
      'candidates, is computed by whichever comes first and is read by the others.',
    '### Seed by seed',
    seedsOf(table.rows),
    '## Differences',
    '![Paired differences](differences.svg)',
    differencesOf(table.differences),
    '## What was to be shown',
    targetsOf(table.targets),
    '## What the agents ask',
    '![Missed decisions](missed.svg)',
    '![Useless questions](useless.svg)',
    '![Exhausted budgets](exhausted.svg)',
    '## How well scores rank turns',
    creditOf(board.credit, plan),
    '## How settings were chosen',
    choicesOf(board.choices, plan),
    '## Every attempt',
    attemptsOf(board.attempts),
    ...(board.earlier.length === 0
      ? []
      : [
          'Of earlier plans in the same folder, each with its fields:',
          attemptsOf(board.earlier, ({ fields }) => code(fields)),
        ]),
    '',
  ].join('\n\n');
}

function introduction({ offline, testUses }: Board, plan: Plan, { start, simulator }: Players): string {
  const { tasks, rollouts } = plan.offline;
  const { maxTurns } = plan.protocol;
  const uses =
    testUses === 1
      ? 'These test tasks were played for this table only.'
      : `These test tasks were played for ${testUses} tables by now; with another test seed in the plan they would be new.`;
  return [
    `Start: \`${start}\`; collaborator: \`${simulator}\`; tasks: the starter world, ${plan.difficulty}, at most ${maxTurns} agent turns, grading mode fixed.`,
    `Offline data, the same for all methods: ${tasks * rollouts} dialogues of the start about ${tasks} tasks (\`${offline.collection}\`).`,
    `${plan.settings === 1 ? 'One setting of each method was tried' : 'Settings were chosen'} on ${plan.development.tasks} tasks of the development split (training seeds ${plan.choiceSeeds.join(', ')}); the table is of ${plan.test.tasks} tasks of the test split and the training seeds ${plan.seeds.join(', ')}.`,
    `${uses}${plan.name === 'quick' ? ' The quick plan is a look, not a result.' : ''}`,
  ].join('\n');
}

function rowsOf(rows: readonly Row[]): string {
  const head = [
    ...['method', 'setting', 'success, T = 1', 'greedy', 'tests passed, T = 1', 'greedy'],
    ...['turns', 'missed', 'useless', 'exhausted', 'tokens', 'seconds', 'training'],
  ];
  return markdownTable(
    head,
    rows.map(({ method, setting, sampled, greedy, trainingMinutes, failures }) => [
      failures.length === 0 ? method : `${method} (${failures.length} failed)`,
      setting ?? '–',
      estimate(sampled?.success),
      estimate(greedy?.success),
      estimate(sampled?.testsPassed),
      estimate(greedy?.testsPassed),
      number(sampled?.turns),
      number(sampled?.missed, 2),
      number(sampled?.useless, 2),
      `${rate(sampled?.exhausted)}, ${rate(greedy?.exhausted)}`,
      number(sampled?.tokens, 0),
      number(sampled?.seconds),
      trainingMinutes === undefined ? '–' : `${trainingMinutes.toFixed(1)} min`,
    ]),
  );
}

function seedsOf(rows: readonly Row[]): string {
  const of = (side: Side | undefined): string =>
    side?.success.bySeed.map((value) => (100 * value).toFixed(1)).join(', ') ?? '–';
  return markdownTable(
    ['method', 'seeds', 'success, T = 1, in %', 'greedy, in %'],
    rows.map((row) => [row.method, row.seeds.join(', '), of(row.sampled), of(row.greedy)]),
  );
}

function differencesOf(all: readonly Difference[]): string {
  if (all.length === 0) return 'There is only one method: nothing to compare.';
  const pairs = Map.groupBy(all, ({ better, worse }) => `${better} − ${worse}`);
  const note = all.every(({ success }) => success.coversSeeds)
    ? 'Points of success on the same tasks with the same seeds; intervals over training seeds and tasks.'
    : 'Points of success on the same tasks with the same seeds; with one training seed an interval is over tasks only.';
  return `${markdownTable(
    ['difference', 'T = 1', 'by seed', 'greedy', 'by seed'],
    [...pairs].map(([name, both]) => [
      name,
      ...SAMPLINGS.flatMap((sampling) => {
        const one = both.find((difference) => difference.sampling === sampling);
        return [difference(one?.success), one?.success.bySeed.map(points).join(', ') ?? '–'];
      }),
    ]),
  )}\n\n${note}`;
}

const targetsOf = (all: readonly Target[]): string =>
  all
    .map(({ better, worse, least, difference: found, met }) => {
      const wanted = least > 0 ? `at least ${points(least)} points` : 'above zero';
      return `- ${better} − ${worse}, ${wanted} with an interval above zero over at least ${MIN_SEEDS} seeds: ${found ? difference(found.success) : 'not measured'} – **${met ? 'met' : 'not met'}**`;
    })
    .join('\n');

function creditOf(credit: Credit | undefined, plan: Plan): string {
  if (credit === undefined) return 'Not measured: the same command, without `--no-credit`, goes on with it.';
  const { states, candidates, rolls, largestStandardError, meanStandardError } = credit;
  if (credit.scores.length === 0) return 'No method with a critic is in the table.';
  const quality = ({ correlation, auc, aucOfQuestions }: ScoreQuality): string[] => [
    plain(correlation),
    plain(auc),
    plain(aucOfQuestions),
  ];
  return [
    `At ${states.seen} histories of the offline data and ${states.unseen} of development tasks the start took up to ${plan.credit.samples} turns; ${candidates} different ones were played to the end ${rolls} times in all (standard error of a turn's success: ${meanStandardError.toFixed(3)} on average, at most ${largestStandardError.toFixed(3)}). ` +
      'ρ: Spearman within a history. AUC: how often a turn that the score calls good (upper half of the different ones) is worth more than one that it calls bad; 0.5 is chance. In brackets: 95 % intervals over histories.',
    markdownTable(
      ['score', 'ρ, seen', 'AUC, seen', 'of questions', 'ρ, unseen', 'AUC, unseen', 'of questions'],
      credit.scores.map(({ name, seen, unseen }) => [name, ...quality(seen), ...quality(unseen)]),
    ),
  ].join('\n\n');
}

function choicesOf(choices: readonly Choice[], plan: Plan): string {
  const rows = choices.flatMap(({ method, tried, chosen }) =>
    tried.map(({ setting, success, bySeed }) => [
      method.name,
      setting === chosen ? `**${setting.name}**` : setting.name,
      code(setting.fields),
      success === null ? 'failed' : percent(success),
      bySeed.map((value) => (value === null ? 'failed' : percent(value))).join(', '),
    ]),
  );
  const methods = choices.map(
    ({ method }) => `- ${method.name}: ${method.about} ${code(method.fields ?? {})}`,
  );
  return [
    plan.settings === 1
      ? 'Each method had one setting, so that nothing was chosen.'
      : `Each method had ${plan.settings} settings; the one with the highest success at T = 1 on the development split was taken.`,
    markdownTable(['method', 'setting', 'fields', 'success', 'by seed'], rows),
    `All runs have in common: ${code(common)}`,
    methods.join('\n'),
  ].join('\n\n');
}

const attemptsOf = (attempts: readonly Attempt[], said = settingOf): string =>
  markdownTable(
    ['begun', 'method', 'setting', 'seed', 'split', 'state', 'T = 1', 'greedy', 'minutes', 'run'],
    attempts.map((one) => [
      one.begun.slice(0, 16).replace('T', ' '),
      one.method,
      said(one),
      String(one.seed),
      one.split,
      one.message === undefined ? one.state : `${one.state}: ${cell(one.message)}`,
      rate(one.sampled?.figures.success?.mean),
      rate(one.greedy?.figures.success?.mean),
      one.seconds === undefined ? '–' : (one.seconds / 60).toFixed(1),
      one.run ?? '–',
    ]),
  );

const settingOf = ({ setting }: Attempt): string => setting ?? '–';

const code = (fields: object): string => `\`${JSON.stringify(fields)}\``;

const number = (value: number | null | undefined, digits = 1): string => value?.toFixed(digits) ?? '–';

const range = (interval: Interval | null, of: (value: number) => string): string =>
  interval === null ? '' : ` [${of(interval.low)}, ${of(interval.high)}]`;

const estimate = (of: OverSeeds | undefined): string =>
  of === undefined ? '–' : `${percent(of.mean)}${range(of.interval, (value) => (100 * value).toFixed(1))}`;

const difference = (of: OverSeeds | undefined): string =>
  of === undefined ? '–' : `${points(of.mean)}${range(of.interval, points)}`;

const plain = (of: OverSeeds | null): string =>
  of === null ? '–' : `${of.mean.toFixed(2)}${range(of.interval, (value) => value.toFixed(2))}`;
