import type { PageFigures } from '../figureSchemas';
import type { GradingMode, PageMeasure } from '../../grading/grade';
import type { Trajectory } from '../../trajectory/trajectory';
import { average, meanFigure, taskMeans } from '../interval';

/** What a score is measured by. Scores of two scales are never averaged or compared. */
export interface PageScale extends Pick<PageMeasure, 'measure' | 'version' | 'renderer'> {
  readonly mode: GradingMode;
}

export const keyOf = ({ mode, measure, version, renderer }: PageScale): string =>
  JSON.stringify([mode, measure, version, renderer]);

export interface ScoredDialogue {
  readonly task: string;
  readonly turns: number;
  readonly page: PageMeasure;
}

interface ScaleDialogues {
  readonly scale: PageScale;
  readonly dialogues: readonly ScoredDialogue[];
}

/** One entry a scale, in the order of their first dialogue. @param finished only finished dialogues */
export function pageFigures(finished: readonly Trajectory[], mode: GradingMode): PageFigures[] {
  return byScale(finished, mode).map(({ scale, dialogues }) => ({
    ...scale,
    tasks: new Set(dialogues.map(({ task }) => task)).size,
    dialogues: dialogues.length,
    score: meanFigure(taskMeans(dialogues, ({ page }) => page.score)),
    meanTurns: average(dialogues.map(({ turns }) => turns)),
    drafts: draftFigures(dialogues),
  }));
}

/** Of a task, averaged over its dialogues. */
interface PageScore extends PageScale {
  readonly task: string;
  readonly score: number;
  readonly rollouts: number;
}

export function pageScores(finished: readonly Trajectory[], mode: GradingMode): PageScore[] {
  return byScale(finished, mode).flatMap(({ scale, dialogues }) =>
    [...Map.groupBy(dialogues, ({ task }) => task)].map(([task, ofTask]) => ({
      ...{ task, score: average(ofTask.map(({ page }) => page.score)), rollouts: ofTask.length },
      ...scale,
    })),
  );
}

/** In the order of their first dialogue. @param finished only finished dialogues */
export function byScale(finished: readonly Trajectory[], mode: GradingMode): ScaleDialogues[] {
  const scored = finished.flatMap((trajectory) => {
    const grade = trajectory.grades.findLast((event) => event.grade.mode === mode)?.grade;
    if (grade?.page === undefined || grade.reward === null) return [];
    const { measure, version, renderer } = grade.page;
    const dialogue = { task: trajectory.task.id, turns: trajectory.turns.length, page: grade.page };
    return [{ scale: { mode, measure, version, renderer }, dialogue }];
  });
  return [...Map.groupBy(scored, ({ scale }) => keyOf(scale)).values()].map((group) => ({
    scale: group[0]!.scale,
    dialogues: group.map(({ dialogue }) => dialogue),
  }));
}

function draftFigures(dialogues: readonly ScoredDialogue[]): PageFigures['drafts'] {
  const drafts = dialogues.flatMap(({ task, page }) =>
    page.drafts.map(({ turn, score }, index) => {
      const before = page.drafts[index - 1]?.score;
      return { task, turn, score, gain: before === undefined ? undefined : score - before };
    }),
  );
  const turns = [...Map.groupBy(drafts, ({ turn }) => turn)].sort(([a], [b]) => a - b);
  return turns.map(([turn, ofTurn]) => {
    const later = ofTurn.flatMap(({ task, gain }) => (gain === undefined ? [] : [{ task, gain }]));
    return {
      ...{ turn, dialogues: ofTurn.length, score: meanFigure(taskMeans(ofTurn, ({ score }) => score)) },
      ...(later.length > 0 && { gain: meanFigure(taskMeans(later, ({ gain }) => gain)) }),
    };
  });
}
