import type { GradingMode, PageMeasure } from '../../grading/grade';

/** What a score is measured by. Scores of two scales are never averaged or compared. */
export interface PageScale extends Pick<PageMeasure, 'measure' | 'version' | 'renderer'> {
  readonly mode: GradingMode;
}

export const keyOf = ({ mode, measure, version, renderer }: PageScale): string =>
  JSON.stringify([mode, measure, version, renderer]);
