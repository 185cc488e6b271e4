import type { AgentFigures, PageFigures } from '../figureSchemas';
import type { Estimate } from '../interval';
import { figure, gain, scaleInWords } from '../words';
import { ASK_F1, COUNT, field, FRACTION, number, t, tableOf, type Field, type Table } from './table';

/** What has the figures of one agent: an evaluation, a run, a side of a loop. */
interface Measured {
  readonly figures: AgentFigures;
}

const of = (
  name: string,
  title: Field<Measured>['title'],
  value: (figures: AgentFigures) => Estimate | number | null | undefined,
  look: Partial<Field<Measured>> = MEAN,
): Field<Measured> => field(name, title, ({ figures }) => number(value(figures), figures.dialogues), look);

/** Per dialogue. */
const MEAN = { unit: 'mean', digits: 2 };
const SCORE = { unit: 'score', digits: 3 };

/** Only titles that a page draws are translated. */
export const figureFields = {
  tasks: of('tasks', 'Tasks', ({ tasks }) => tasks, COUNT),
  success: of('success', t('Success (95 % interval)'), ({ success }) => success, { ...FRACTION, most: 1 }),
  testsPassed: of('tests_passed', t('Tests passed'), ({ testsPassed }) => testsPassed, FRACTION),
  turns: of('turns', t('Turns'), ({ meanTurns }) => meanTurns),
  questions: of('questions', t('Questions'), ({ meanQuestions }) => meanQuestions),
  missed: of('missed_decisions', 'Missed decisions', ({ missedDecisions }) => missedDecisions),
  needless: of('needless_questions', t('Needless questions'), ({ needlessQuestions }) => needlessQuestions),
  repeated: of('repeated_questions', t('Repeated questions'), ({ repeatedQuestions }) => repeatedQuestions),
  askF1: field<Measured>(
    'ask_f1',
    t('Ask-F1 (95 % interval)'),
    ({ figures: { askF1, dialogues } }) => (askF1 ? { ...askF1, of: dialogues } : null),
    ASK_F1,
  ),
  askPrecision: of('ask_precision', 'Ask precision', ({ askPrecision }) => askPrecision, FRACTION),
  askRecall: of('ask_recall', 'Ask recall', ({ askRecall }) => askRecall, FRACTION),
  tokens: of('tokens', 'Tokens', ({ meanTokens }) => meanTokens, { unit: 'mean' }),
  seconds: of('seconds', 'Seconds', ({ meanSeconds }) => meanSeconds, { unit: 'mean', digits: 1 }),
  unasked: of('unasked', t('Answers without a question'), ({ unaskedRate }) => unaskedRate, FRACTION),
  turnLimit: of('turn_limit', t('Turn limit'), ({ turnLimitRate }) => turnLimitRate, FRACTION),
  leak: of('leak', t('Leak'), ({ leakRate }) => leakRate, FRACTION),
  timedOut: of('timed_out', 'Timed out', ({ timeOutRate }) => timeOutRate, FRACTION),
  doubtful: of(
    'doubtful_specifications',
    'Doubtful specifications',
    ({ doubtfulSpecifications }) => doubtfulSpecifications,
    { ...COUNT, isOptional: true },
  ),
  leftOut: of('left_out', 'Left out', ({ notGradable, unfinished }) => notGradable + unfinished, COUNT),
};

/** Needless or repeated. */
export const uselessField = of(
  'useless_questions',
  'Useless questions',
  ({ uselessQuestions }) => uselessQuestions,
);

export const questionFields = {
  dialogues: of('dialogues', 'Dialogues', ({ questions }) => questions?.dialogues, COUNT),
  needed: of('questions_needed', 'Needed', ({ questions }) => questions?.needed),
  asked: of('questions_asked', 'Asked', ({ questions }) => questions?.asked),
  bits: of('bits', 'Bits per question', ({ questions }) => questions?.bits),
  lost: of('questions_lost', 'Questions lost', ({ questions }) => questions?.regret),
  left: of('figures_left', 'Figures left', ({ questions }) => questions?.left),
};

export const draftFields = {
  first: of(
    'first_draft',
    'Checks passed, first draft',
    ({ pages }) => pages?.[0]?.drafts[0]?.score.value,
    FRACTION,
  ),
  applied: of('applied', 'Told and applied', ({ draftProgress }) => draftProgress?.applied?.mean, FRACTION),
  regressed: of(
    'lossy_redrafts',
    'Redrafts that lose something',
    (one) => one.draftProgress?.regressed?.mean,
    FRACTION,
  ),
};

type NamedPage = PageFigures & { readonly name: string };

/** Of functions, web pages and twenty questions, as far as they were played. */
export function agentTables(agents: readonly Measured[]): Table[] {
  const nameOf = ({ figures }: Measured) => ({ name: figures.agent });
  const players = agents.filter(({ figures }) => figures.questions !== undefined);
  const pages = agents.flatMap(({ figures: { agent: name, pages: all = [] } }) =>
    all.map((page): NamedPage => ({ name, ...page })),
  );
  const isOnlyPages = pages.length > 0 && agents.every(({ figures }) => figures.tasks === 0);
  return [
    ...(isOnlyPages ? [] : [tableOf(OF_FUNCTIONS, Object.values(figureFields), agents, nameOf)]),
    ...(pages.length === 0 ? [] : [pageTable(pages), draftTable(pages)]),
    ...(players.length === 0 ? [] : [tableOf(OF_QUESTIONS, Object.values(questionFields), players, nameOf)]),
  ];
}

const OF_FUNCTIONS = {
  name: 'Figures',
  head: 'Agent',
  note: 'In brackets: 95 % intervals over tasks (Wilson; of Ask-F1, bootstrap). Ask-F1: harmonic mean of precision (questions that a hidden decision answers for the first time) and recall (decisions asked about), over all dialogues. Per dialogue: turns, questions, hidden decisions missed, needless and repeated questions, tokens, seconds.',
};

const OF_QUESTIONS = {
  name: 'Questions',
  head: 'Twenty questions',
  note: 'Questions needed by the best decision tree and asked; expected information of each; questions lost to the tree; figures left at the answer (means per dialogue).',
};

/** A row for each agent and scale. */
const pageTable = (pages: readonly NamedPage[]): Table =>
  tableOf<NamedPage>(
    { name: 'Pages', head: 'Web pages' },
    [
      field('tasks', 'Tasks', ({ tasks }) => number(tasks), COUNT),
      field('dialogues', 'Dialogues', ({ dialogues }) => number(dialogues), COUNT),
      field('score', 'Score', ({ score }) => score, SCORE),
      field('turns', 'Turns', ({ meanTurns }) => number(meanTurns), MEAN),
      field('measure', 'Measured by', scaleInWords),
    ],
    pages,
    ({ name }) => ({ name }),
  );

/** A row for each turn in which drafts were shown. */
const draftTable = (pages: readonly NamedPage[]): Table =>
  tableOf<Omit<NamedPage, 'drafts'> & { readonly draft: PageFigures['drafts'][number] }>(
    {
      name: 'Drafts',
      head: 'Drafts',
      note: 'Scores and gains with 95 % intervals of the mean over tasks, from six tasks on; each draft is scored.',
    },
    [
      field('measure', 'Measure', ({ measure }) => measure),
      field('turn', 'Turn', ({ draft }) => number(draft.turn), COUNT),
      field('dialogues', 'Drafts', ({ draft }) => number(draft.dialogues), COUNT),
      field('score', 'Score', ({ draft }) => draft.score, SCORE),
      field('gain', 'Gain on the draft before', ({ draft }) =>
        draft.gain ? figure(draft.gain, gain) : null,
      ),
    ],
    pages.flatMap(({ drafts, ...page }) => drafts.map((draft) => ({ ...page, draft }))),
    ({ name }) => ({ name }),
  );
