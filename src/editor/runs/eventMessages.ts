import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import type { RunHistory } from '../../core/training/history/history';
import { isRoutine, type ListedEvent } from '../../core/training/history/eventList';
import { playsItself, type TrainerEventOf } from '../../core/training/events';
import type { EventListView } from '../../../webview/run/protocol';
import { grouped } from '../../core/text';
import { duration } from '../words';
import { endedWords, reportedStateWords, stageWord } from '../run/words';

const { t } = vscode.l10n;

const MAX_LINES = 40;
/** Routine lines shown when there is enough else to show. */
const MAX_ROUTINE_LINES = 10;

/** Newest first. */
export function toldView({ told }: RunHistory, language: string): EventListView {
  const { latest, count, routine } = told;
  const said = latest
    .flatMap((event) => {
      const text = toldWords(event);
      if (text === undefined) return [];
      const time = new Date(event.at).toLocaleTimeString(language);
      return [{ line: { time, text }, isOfRoutine: isRoutine(event) }];
    })
    .reverse();
  const allLooks = said.filter(({ isOfRoutine }) => isOfRoutine);
  const room = MAX_LINES - Math.min(MAX_ROUTINE_LINES, allLooks.length);
  const others = said.filter(({ isOfRoutine }) => !isOfRoutine).slice(0, room);
  const looks = allLooks.slice(0, MAX_LINES - others.length);
  const shown = new Set([...others, ...looks]);
  // An event without words does not count.
  const more = count - latest.length + said.length - shown.size;
  return {
    type: 'told',
    lines: said.filter((one) => shown.has(one)).map(({ line }) => line),
    more: more === 0 ? '' : moreWords(more, routine - looks.length),
  };
}

function moreWords(more: number, looks: number): string {
  if (looks === 0) return t('{0} more events are in the event file.', grouped(more));
  return t(
    '{0} more events are in the event file, {1} of them held-out evaluations.',
    grouped(more),
    grouped(looks),
  );
}

/** Undefined for an event that needs no line. The trainer's own words are English. */
function toldWords(event: ListedEvent): string | undefined {
  switch (event.event) {
    case 'state':
      return stateToldWords(event);
    case 'evaluation':
      return evaluationWords(event);
    case 'control':
      return controlWords(event);
    case 'gains':
      return gainsWords(event);
    case 'data':
      if (playsItself(event)) return t('{0} tasks to play', grouped(event.tasks));
      return t(
        '{0} dialogues of {1} tasks, {2} of them successes; {3} of {4} turns with the tokens that were sampled',
        ...[event.trajectories, event.tasks, event.successes, event.turns_as_sampled, event.turns].map(
          grouped,
        ),
      );
    case 'plan': {
      const seconds = event.total_seconds;
      return typeof seconds === 'number' ? t('Planned: about {0}', duration(seconds, t)) : undefined;
    }
    case 'candidates':
      return t('{0} candidates for {1} histories', grouped(event.candidates), grouped(event.histories));
    case 'ranking':
      return rankingWords(event);
    case 'notice':
      return event.message;
    case 'result':
      return t('The result is written.');
    // The view has a table of them, and a notice reports changes.
    case 'nodes':
    case 'other':
      return undefined;
  }
}

function stateToldWords({ state, stage, message }: TrainerEventOf<'state'>): string | undefined {
  if (state === 'running' && stage !== undefined) return t('{0} started', stageWord(stage));
  const word = reportedStateWords[state];
  return message === undefined ? word : `${word}: ${message}`;
}

function evaluationWords(event: TrainerEventOf<'evaluation'>): string {
  const { accuracy, success, loss } = event;
  const figures = [
    ...(accuracy == null ? [] : [t('pair accuracy {0} %', (100 * accuracy).toFixed(1))]),
    ...(success == null ? [] : [t('success rate {0} %', (100 * success).toFixed(1))]),
    ...(loss == null ? [] : [t('loss {0}', loss.toPrecision(3))]),
  ].join(', ');
  const said = t('{0}, step {1}: held-out {2}', stageWord(event.stage), grouped(event.step), figures);
  return event.best === true ? t('{0}; the best so far', said) : said;
}

function controlWords({ stage, accuracy, examples }: TrainerEventOf<'control'>): string | undefined {
  if (accuracy == null) return undefined;
  return t(
    '{0}: the untrained baseline ranks {1} % of {2} held-out pairs correctly',
    stageWord(stage),
    (100 * accuracy).toFixed(1),
    grouped(examples),
  );
}

function gainsWords({
  dialogues,
  rank_correlation: correlation,
  low,
  high,
}: TrainerEventOf<'gains'>): string | undefined {
  if (correlation == null) return undefined;
  const said = t(
    'Rank correlation of credits with the gains of drafts: {0}, over {1} held-out dialogues',
    correlation.toFixed(2),
    grouped(dialogues),
  );
  return low == null || high == null ? said : `${said} (95 %: ${low.toFixed(2)} – ${high.toFixed(2)})`;
}

function rankingWords(event: TrainerEventOf<'ranking'>): string {
  const { rank_correlation: correlation } = event;
  const ranked = t('{0} candidates ranked', grouped(event.candidates));
  return correlation == null
    ? ranked
    : t('{0}; rank correlation of critic and untrained baseline {1}', ranked, correlation.toFixed(2));
}

const stageFigures = lazily(() =>
  z.looseObject({
    held_out_accuracy: z.number().optional(),
    held_out_untrained_accuracy: z.number().optional(),
  }),
);
const resultFigures = lazily(() => z.looseObject({ stages: z.record(z.string(), z.unknown()).catch({}) }));

/**
 * Compares the first held-out loss of each stage with that of the weights that are kept, or pair accuracy where no
 * loss is measured. The earliest stage without an improvement is named, because later ones depend on it.
 * Undefined when all improved, or none was measured twice.
 */
export function unimprovedWords(history: RunHistory): string | undefined {
  for (const stage of history.trained) {
    for (const figure of ['loss', 'accuracy'] as const) {
      const [first, ...later] = history.curves(stage, figure)?.heldOut.all ?? [];
      const after = history.bestLook(stage)?.[figure];
      if (first === undefined || later.length === 0 || after == null) continue;
      const before = first.sum / first.count;
      if (figure === 'loss' ? after < before : after > before) break;
      const shown = (value: number): string =>
        figure === 'loss' ? value.toPrecision(3) : t('{0} %', (100 * value).toFixed(1));
      return t(
        '{0} did not improve ({1}): {2} at first, {3} in the result. What was learned does not hold for other tasks. Try more dialogues, fewer epochs or a lower learning rate.',
        figure === 'loss' ? t('Held-out loss') : t('Held-out pair accuracy'),
        stageWord(stage),
        shown(before),
        shown(after),
      );
    }
  }
  return undefined;
}

export function resultWords(history: RunHistory): string | undefined {
  if (history.result === undefined) return undefined;
  const { stages } = resultFigures().parse(history.result);
  const measured = Object.entries(stages).flatMap(([stage, told]) => {
    const { held_out_accuracy: accuracy, held_out_untrained_accuracy: untrained } =
      stageFigures().safeParse(told).data ?? {};
    if (accuracy === undefined) return [];
    const said = t('{0} {1} %', stageWord(stage), (100 * accuracy).toFixed(0));
    return [untrained === undefined ? said : t('{0} (untrained {1} %)', said, (100 * untrained).toFixed(0))];
  });
  const { ended } = history.result;
  const isReady = t('The trained model is ready.');
  const ready = ended === undefined ? isReady : `${isReady} ${endedWords(ended)}`;
  return measured.length === 0 ? ready : `${ready} ${t('Held-out pair accuracy: {0}.', measured.join(', '))}`;
}
