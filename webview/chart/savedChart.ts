import { isFlag, isNumber, isOneOf, isRecord, isShare, isText, part } from '../editorApi';
import { axes, figureNames, type Choice, type Look, type Steps } from './protocol';
import { allSteps } from './axis';

const firstLook: Look = {
  smoothing: 0.6,
  isLogarithmic: false,
  asTable: false,
  axis: 'step',
  steps: allSteps,
};

export const lookOf = (kept: unknown): Look => ({
  smoothing: part(kept, 'smoothing', isSmoothing) ?? firstLook.smoothing,
  isLogarithmic: part(kept, 'isLogarithmic', isFlag) ?? firstLook.isLogarithmic,
  asTable: part(kept, 'asTable', isFlag) ?? firstLook.asTable,
  axis: part(kept, 'axis', isOneOf(axes)) ?? firstLook.axis,
  steps: part(kept, 'steps', isSteps) ?? firstLook.steps,
});

export function choiceOf(kept: unknown): Choice {
  const choice = part(kept, 'choice', isRecord);
  const stage = part(choice, 'stage', isText);
  const figure = part(choice, 'figure', isOneOf(figureNames));
  return { ...(stage !== undefined && { stage }), ...(figure !== undefined && { figure }) };
}

function isSteps(value: unknown): value is Steps {
  if (part(value, 'share', isShare) !== undefined) return true;
  const ends = [part(value, 'from', isNumber), part(value, 'to', isNumber)];
  return part(value, 'stage', isText) !== undefined && ends.every((end) => end !== undefined);
}

/** Excludes 1, with which every average would be 0/0. */
const isSmoothing = (value: unknown): value is number => isShare(value) && value < 1;
