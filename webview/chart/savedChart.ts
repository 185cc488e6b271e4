import { isFlag, isNumber, isOneOf, isRecord, isShare, isText, part } from '../editorApi';
import { axes, figureNames, type Choice, type Look, type Steps } from './protocol';
import { allSteps } from './axis';

export const lookOf = (kept: unknown): Look => ({
  smoothing: part(kept, 'smoothing', isSmoothing) ?? 0.6,
  isLogarithmic: part(kept, 'isLogarithmic', isFlag) ?? false,
  asTable: part(kept, 'asTable', isFlag) ?? false,
  axis: part(kept, 'axis', isOneOf(axes)) ?? 'step',
  steps: part(kept, 'steps', isSteps) ?? allSteps,
});

export function choiceOf(kept: unknown): Choice {
  const choice = part(kept, 'choice', isRecord);
  return { stage: part(choice, 'stage', isText), figure: part(choice, 'figure', isOneOf(figureNames)) };
}

function isSteps(value: unknown): value is Steps {
  if (part(value, 'share', isShare) !== undefined) return true;
  const ends = [part(value, 'from', isNumber), part(value, 'to', isNumber)];
  return part(value, 'stage', isText) !== undefined && ends.every((end) => end !== undefined);
}

/** Excludes 1, with which every average would be 0/0. */
const isSmoothing = (value: unknown): value is number => isShare(value) && value < 1;
