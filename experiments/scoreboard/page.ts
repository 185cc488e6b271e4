import type { Interval } from '../../src/core/evaluation/interval';
import { percent, points, rate } from '../../src/core/evaluation/words';
import { cell, markdownTable } from '../../src/core/markdown';
import type { OverSeeds } from '../../src/core/evaluation/overSeeds';
import type { Board } from './board';
import type { Choice } from './choice';
import { amount } from './costPicture';
import type { Credit } from './credit';
import { common, isTrained, type Method } from './methods';
import { askingFigure, ownSide, temperatureName } from './pictures';
import { INSTRUMENT, type Plan } from './plan';
import type { ScoreQuality } from './quality';
import { MAIN, MIN_SEEDS, type Difference, type Table, type TableRow, type Target } from './table';

/** Names of the players for the head of the page. */
export interface Players {
  readonly start: string;
  readonly simulator: string;
}

/** Returns the scoreboard as a Markdown page; its pictures lie beside it. */
export function pageOf(board: Board, table: Table, plan: Plan, players: Players): string {
  const played = table.rows.some(({ sides }) => sides.length > 0);
  return [
    `# Scoreboard${plan.name === 'full' ? '' : `, ${plan.name.replaceAll('-', ' ')}`}`,
    introduction(board, plan, players),
    '## What was to be shown',
    plan.decides ? targetsOf(table.targets) : FOR_ORIENTATION,
    '## Success on the test split',
    ...(played ? resultsOf(table, plan) : ['No test task has been played yet.']),
    '## How settings and temperatures were chosen',
    choicesOf([...board.choices.values()], plan),
    '## How well scores rank turns',
    creditOf(board.credit, plan),
    ...(board.failures.length === 0
      ? []
      : [
          '## Cells that failed in the last call',
          board.failures.map(({ cell: name, message }) => `- ${name}: ${cell(message)}`).join('\n'),
        ]),
    '',
  ].join('\n\n');
}

const FOR_ORIENTATION =
  'Nothing: this table is for orientation. Comparisons that were fixed beforehand are those of the functions world.';

function resultsOf(table: Table, plan: Plan): string[] {
  const asking = askingFigure(table.rows);
  return [
    '![Success with intervals per method and seed](success.svg)',
    successOf(table.rows, plan),
    'In brackets: 95 % intervals over training seeds, with their data, and tasks.',
    '### Seed by seed, at each method’s own temperature',
    seedsOf(table.rows),
    '## What it costs',
    '![Success against dialogues](dialogues.svg)',
    '![Success against compute](compute.svg)',
    costsOf(table.rows),
    'Before the play, mean over seeds. Sampled: tokens of the agent in these dialogues and as candidates; those of ' +
      'dialogues that a training plays are estimated by the length of the trained model’s own. Trained: tokens in all ' +
      'steps, as the trainer counts them. Minutes as they passed, two runs at once: they do not compare methods, since ' +
      'what several runs need is computed by the first.',
    '## Differences',
    ...(table.differences.some(({ better }) => better === MAIN)
      ? ['![Paired differences](differences.svg)']
      : []),
    differencesOf(table.differences),
    ...(plan.decides ? ['## Equal β and NLL', ...equalOf(table.equal)] : []),
    '## What the agents ask',
    asking === 'lost' ? '![Lost questions](lost.svg)' : '![Missed decisions](missed.svg)',
    '![Useless questions](useless.svg)',
    '![Exhausted budgets](exhausted.svg)',
    askedOf(table.rows, asking),
  ];
}

function introduction({ cells }: Board, plan: Plan, { start, simulator }: Players): string {
  const { offline, development, test, seeds, fewSeeds, choiceSeeds } = plan;
  return [
    `Start: \`${start}\`; collaborator: \`${simulator}\`; tasks: the starter world, ${plan.world.replaceAll('-', ' ')}, ${plan.difficulty}, at most ${plan.protocol.maxTurns} agent turns, grading mode fixed; instrument ${INSTRUMENT}.`,
    `Each training seed collects its own ${offline.tasks * offline.rollouts} dialogues of the start about ${offline.tasks} tasks of its own.`,
    `Setting and temperature of each method, the start’s too, were chosen on ${development.tasks} tasks of the development split (training seeds ${choiceSeeds.join(', ')}). The table is of ${test.tasks} tasks of the test split, ${test.rollouts} dialogues each (greedy one), and up to ${seeds.length} training seeds, at least ${fewSeeds}.`,
    `${cells.done} of the ${cells.total} cells that are known by now are finished.${plan.name === 'quick' ? ' The quick plan is a look, not a result.' : ''}`,
  ].join('\n');
}

function successOf(rows: readonly TableRow[], plan: Plan): string {
  return markdownTable(
    [
      ...['method', 'setting', 'seeds', ...plan.temperatures.map(temperatureName)],
      ...['own temperature', 'tests passed'],
    ],
    rows.map((row) => {
      const { name, setting, seeds, planned, sides, own } = row;
      const success = plan.temperatures.map((one) =>
        estimate(sides.find(({ temperature }) => temperature === one)?.success),
      );
      return [
        ...[name, setting, seeds.length === planned ? String(planned) : `${seeds.length} of ${planned}`],
        ...success,
        `**${estimate(ownSide(row)?.success)}** (${temperatureName(own)})`,
        rate(ownSide(row)?.testsPassed),
      ];
    }),
  );
}

const seedsOf = (rows: readonly TableRow[]): string =>
  markdownTable(
    ['method', 'seeds', 'success in %'],
    rows.map((row) => [
      ...[row.name, row.seeds.join(', ')],
      ownSide(row)
        ?.success.bySeed.map((value) => (100 * value).toFixed(1))
        .join(', ') ?? '–',
    ]),
  );

const costsOf = (rows: readonly TableRow[]): string =>
  markdownTable(
    ['method', 'own temperature', 'dialogues', 'sampled tokens', 'trained tokens', 'minutes'],
    rows.map((row) => [
      ...[row.name, rate(ownSide(row)?.success.mean)],
      ...(['dialogues', 'sampled', 'trained'] as const).map((name) =>
        row.costs === undefined ? '–' : amount(row.costs[name]),
      ),
      row.costs?.minutes.toFixed(1) ?? '–',
    ]),
  );

const askedOf = (rows: readonly TableRow[], asking: 'missed' | 'lost'): string =>
  markdownTable(
    ['method', 'turns', asking, 'useless', 'exhausted', 'leaked', 'tokens', 'seconds'],
    rows.map((row) => {
      const side = ownSide(row);
      return [
        ...[row.name, number(side?.turns), number(side?.[asking], 2), number(side?.useless, 2)],
        ...[rate(side?.exhausted), rate(side?.leaked), number(side?.tokens, 0), number(side?.seconds)],
      ];
    }),
  );

function differencesOf(all: readonly Difference[]): string {
  if (all.length === 0) return 'There is only one method: nothing to compare.';
  const table = markdownTable(
    ['difference', 'temperatures', 'seeds', 'points of success', 'by seed'],
    all.map(({ better, worse, temperatures, seeds, success }) => [
      ...[`${better} − ${worse}`, temperatures.map(temperatureName).join(' and '), String(seeds.length)],
      ...[difference(success), success.bySeed.map(points).join(', ')],
    ]),
  );
  return `${table}\n\nOn the same tasks with the same seeds, each method at its own temperature.`;
}

const equalOf = ({ rows, differences }: Table['equal']): string[] =>
  differences.length === 0
    ? ['Not measured yet.']
    : [
        'Methods that learn from preferences, all with the same β and NLL, so that a difference between them is not one of regularization.',
        '![Paired differences at equal settings](equal.svg)',
        `Setting: ${rows[0]!.setting}.`,
        differencesOf(differences),
      ];

function targetsOf(all: readonly Target[]): string {
  return all
    .map(({ better, worse, kind, least, planned, difference: found, met }) => {
      const wanted = `${kind === 'primary' ? '**Primary**: ' : ''}${better} − ${worse}, ${least === 0 ? 'above zero' : `at least ${points(least)} points`} with an interval above zero over at least ${MIN_SEEDS} seeds`;
      if (found === undefined) return `- ${wanted}: not measured yet`;
      const { success, seeds, level } = found;
      const verdict =
        met === undefined ? `${seeds.length} of ${planned} seeds by now` : met ? '**met**' : '**not met**';
      return `- ${wanted}: ${difference(success)} (${(100 * level).toFixed(level === 0.95 ? 0 : 2)} %) – ${verdict}`;
    })
    .join('\n');
}

function creditOf(credit: Credit | undefined, plan: Plan): string {
  if (credit === undefined) return 'Not measured: `--credit` measures it.';
  const { states, candidates, rolls, largestStandardError, meanStandardError } = credit;
  if (credit.scores.length === 0) return 'No method with a critic is in the table.';
  const quality = ({ correlation, auc, aucOfQuestions }: ScoreQuality): string[] => [
    plain(correlation),
    plain(auc),
    plain(aucOfQuestions),
  ];
  return [
    `Of the first training seed. At ${states.seen} histories of its dialogues and ${states.unseen} of development tasks the start took up to ${plan.credit.samples} turns; ${candidates} different ones were played to the end ${rolls} times in all (standard error of a turn's success: ${meanStandardError.toFixed(3)} on average, at most ${largestStandardError.toFixed(3)}). ` +
      'ρ: Spearman within a history. AUC: how often a turn that the score calls good (upper half of the different ones) is worth more than one that it calls bad; 0.5 is chance. In brackets: 95 % intervals over histories.',
    markdownTable(
      ['score', 'ρ, seen', 'AUC, seen', 'of questions', 'ρ, unseen', 'AUC, unseen', 'of questions'],
      credit.scores.map(({ name, seen, unseen }) => [name, ...quality(seen), ...quality(unseen)]),
    ),
  ].join('\n\n');
}

function choicesOf(choices: readonly Choice[], plan: Plan): string {
  const rows = choices.flatMap(({ method, tried, chosen }) =>
    tried.map(({ setting, at }) => [
      ...[method.name, setting.name, code(setting.fields)],
      ...at.map(({ temperature, success, bySeed }) => {
        const isChosen = setting === chosen?.setting && temperature === chosen.temperature;
        const mean = isChosen ? `**${percent(success)}**` : percent(success);
        return bySeed.length === 1 ? mean : `${mean} (${bySeed.map(percent).join(', ')})`;
      }),
    ]),
  );
  const waiting = choices.filter(({ chosen }) => chosen === undefined).map(({ method }) => method.name);
  return [
    'Mean over the seeds of the choice, and each of them; the highest one is taken.',
    markdownTable(['method', 'setting', 'fields', ...plan.temperatures.map(temperatureName)], rows),
    ...(waiting.length === 0 ? [] : [`Not yet chosen: ${waiting.join(', ')}.`]),
    `All runs have in common: ${code(common)}`,
    choices.map(({ method }) => `- ${method.name}: ${method.about} ${definition(method)}`).join('\n'),
  ].join('\n\n');
}

function definition(method: Method): string {
  if (isTrained(method)) return code(method.fields);
  const { agent, settings } = method;
  const parts = {
    start: 'START',
    model: (of: string) => `MODEL(${of})`,
    critic: (of: string) => `CRITIC(${of})`,
  };
  return `\`${agent(parts, settings[0]!.fields)}\``;
}

const code = (fields: object): string => `\`${JSON.stringify(fields)}\``;

const number = (value: number | null | undefined, digits = 1): string => value?.toFixed(digits) ?? '–';

const range = (interval: Interval | null, of: (value: number) => string): string =>
  interval === null ? '' : ` [${of(interval.low)}, ${of(interval.high)}]`;

const estimate = (of: OverSeeds | undefined): string =>
  of === undefined ? '–' : `${percent(of.mean)}${range(of.interval, (value) => (100 * value).toFixed(1))}`;

const difference = (of: OverSeeds): string => `${points(of.mean)}${range(of.interval, points)}`;

const plain = (of: OverSeeds | null): string =>
  of === null ? '–' : `${of.mean.toFixed(2)}${range(of.interval, (value) => value.toFixed(2))}`;
