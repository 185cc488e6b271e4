import * as vscode from 'vscode';
import type { StageState } from '../../core/evaluation/loop/loopProgress';
import type { TrainedComparisons } from '../../core/evaluation/loop/comparison';
import type { LoopSettings, Size } from '../../core/evaluation/loop/settings';
import type { StageName } from '../../core/evaluation/loop/record';
import { isLost } from '../../core/evaluation/habits';
import { outcomeTable } from '../../core/evaluation/report/loop';
import type { OutcomeView, SizeView, TeachingView } from '../../../webview/teaching/protocol';
import type { StepView } from '../../../webview/ui/protocol';
import { changeWords, stageWord } from '../run/words';
import type { World } from '../../core/task/starter/splits';
import { grouped } from '../../core/text';
import { installStep } from '../trainer';
import { lessonName, roughly, worldChoices } from '../words';
import type { Teaching } from './teacher';

const { t } = vscode.l10n;

export interface LessonContext {
  readonly agent: string;
  readonly world: World;
  readonly worlds: readonly World[];
  readonly settings: Readonly<Record<Size, LoopSettings>>;
  /** Undefined while unknown. */
  readonly secondsFor: (size: Size) => number | undefined;
  /** Why nothing can begin here; empty where it can. */
  readonly restriction: string;
  /** Why it stopped by itself; empty otherwise. */
  readonly fault: string;
}

/** To a person, export is part of training, and the report part of evaluation. */
const SHOWN: readonly (readonly StageName[])[] = [
  ['tasks'],
  ['collect'],
  ['train', 'export'],
  ['evaluate', 'report'],
];

export function teachingView(teaching: Teaching, around: LessonContext): TeachingView {
  const { state, lesson, run } = teaching;
  const { agent, settings, restriction, fault } = around;
  const outcome = state === 'done' ? lesson?.outcome : undefined;
  return {
    type: 'show',
    title: lesson === undefined ? t('Teach the agent') : lessonName(lesson, t),
    introduction: t(
      'The agent ({0}) plays tasks with a simulator, learns from these dialogues, and is evaluated on held-out tasks. Everything runs on this machine and continues when this page is closed.',
      agent,
    ),
    state,
    worlds: state === 'none' && around.worlds.length > 1 ? worldChoices(around.worlds, t) : [],
    world: around.world,
    sizes: state === 'none' ? sizesOf(teaching, around) : [],
    stages: lesson === undefined ? [] : stagesOf(teaching, settings[lesson.size]),
    sentence: restriction === '' ? fault : restriction,
    isRefused: restriction !== '',
    hasRun: run !== undefined,
    ...(lesson !== undefined &&
      outcome !== undefined && {
        outcome: outcomeView(outcome.comparisons, settings[lesson.size].temperature),
      }),
  };
}

function sizesOf(teaching: Teaching, { settings, secondsFor }: LessonContext): SizeView[] {
  const size = (value: Size, label: string, remark: string): SizeView => {
    const { trainTasks, rollouts } = settings[value];
    const seconds = secondsFor(value);
    const detail = [
      t('{0} tasks, {1} dialogues.', grouped(trainTasks), grouped(trainTasks * rollouts)),
      ...(seconds === undefined
        ? []
        : [
            teaching.installing === undefined
              ? t('About {0}.', roughly(seconds, t))
              : t('About {0}, after the installation.', roughly(seconds, t)),
          ]),
      ...(remark === '' ? [] : [remark]),
    ];
    const stages = stagesOf(teaching, settings[value]);
    return { value, label, detail: detail.join(' '), stages };
  };
  return [
    size('brief', t('Brief'), t('A demonstration; too short to expect a better agent.')),
    size('standard', t('Standard'), ''),
    size('thorough', t('Thorough'), t('More to learn from, and narrower intervals.')),
  ];
}

function stagesOf(teaching: Teaching, settings: LoopSettings): StepView[] {
  const { state, stages, installing, secondsLeft } = teaching;
  const left =
    state === 'working' && secondsLeft !== undefined ? t('about {0} left', roughly(secondsLeft, t)) : '';
  const known = new Map(stages.map((stage) => [stage.name, stage]));
  const labels = labelsOf(settings);
  const steps = SHOWN.map((names, index): StepView => {
    const parts = names.map((name): StageState => known.get(name) ?? { name, state: 'waiting' });
    const now = parts.find((part) => part.state === 'now');
    const isDone = state === 'done' || parts.every((part) => part.state === 'done');
    const hasBegun = now !== undefined || parts.some((part) => part.state === 'done');
    return {
      ...labels[index]!,
      state: isDone ? 'done' : hasBegun ? 'now' : 'waiting',
      // The later stages of a group are too short for a bar.
      ...(now?.fraction !== undefined && { fraction: now.name === names[0] ? now.fraction : 1 }),
      count: now === undefined ? '' : [countWords(now), left].filter((words) => words !== '').join(' · '),
    };
  });
  return installing === undefined ? steps : [installStep(installing, t), ...steps];
}

const labelsOf = ({
  trainTasks,
  heldOutTasks,
  rollouts,
  evaluationRollouts,
  training,
}: LoopSettings): Pick<StepView, 'label' | 'detail'>[] => [
  {
    label: t('Generate tasks'),
    detail: t(
      '{0} for training and {1} held out, of other kinds',
      grouped(trainTasks),
      grouped(heldOutTasks),
    ),
  },
  {
    label: t('Collect dialogues'),
    detail:
      rollouts === 1
        ? t('The agent plays each task once with the simulator')
        : t('The agent plays each task {0} times with the simulator', rollouts),
  },
  {
    label: t('Train'),
    detail:
      training.method === 'distill'
        ? t(
            'The agent learns to ask what it would ask if it saw the hidden information; it never sees it (distillation)',
          )
        : t('A critic learns what each turn was worth, then the agent learns from the critic (SWEET-RL)'),
  },
  {
    label: t('Evaluate'),
    detail: t(
      'The agent before and after training on the {0} held-out tasks, {1} dialogues per task, one of them greedy',
      grouped(heldOutTasks),
      evaluationRollouts + 1,
    ),
  },
];

function countWords({ name, what, done, total }: StageState): string {
  if (name === 'train') return what === undefined ? '' : stageWord(what.split(' ')[0]!);
  return done === undefined || total === undefined ? '' : t('{0} of {1}', grouped(done), grouped(total));
}

function outcomeView(comparisons: TrainedComparisons, temperature: number): OutcomeView {
  const { before, after, success } = comparisons.sampled;
  const { interval, tasks } = success;
  const sentence = changeWords(before.success?.mean ?? 0, after.success?.mean ?? 0, {
    setting: { tasks, temperature },
    interval,
  });
  const remark =
    interval === null || interval.low > 0
      ? ''
      : interval.high < 0
        ? t('It has become worse. The previous agent is still there; another lesson may do better.')
        : t('The interval includes zero: no clear difference. Another lesson may show one.');
  const unlearned = (comparisons.earlier ?? []).flatMap(({ success: change }) =>
    isLost(change)
      ? t(
          'It unlearned part of an earlier lesson: success on {0} of its tasks fell by {1} points.',
          grouped(change.tasks),
          Math.round(-100 * change.difference),
        )
      : [],
  );
  return { sentence, remark, unlearned, measured: outcomeTable(comparisons) };
}
