import { isFlag, isRecord, isText, isTexts, part } from '../savedState';
import type { DuplicatedRun, FormState, Values } from './protocol';

/** Undefined when the kept form does not fit; then the host sends a new one. */
export function formOf(kept: unknown): FormState | undefined {
  const dataFolder = part(kept, 'dataFolder', isText);
  const values = withScore(part(kept, 'values', isTexts));
  const copied = part(kept, 'copied', isCopied);
  const isUnfolded = part(kept, 'isUnfolded', isFlag);
  const isWhole = copied !== undefined || !isRecord(kept) || kept.copied === undefined;
  if (dataFolder === undefined || values === undefined || !isWhole) return undefined;
  return {
    ...{ dataFolder, values },
    ...(copied !== undefined && { copied }),
    ...(isUnfolded !== undefined && { isUnfolded }),
  };
}

/** An older form has two scores of SWEET-RL's critic as methods. */
function withScore(values: Values | undefined): Values | undefined {
  const method = values?.method;
  return method === 'value-head' || method === 'untrained'
    ? { ...values, method: 'sweet-rl', 'critic.score': method }
    : values;
}

const isCopied = (value: unknown): value is DuplicatedRun =>
  part(value, 'of', isText) !== undefined &&
  part(value, 'data', isText) !== undefined &&
  part(value, 'configuration', isRecord) !== undefined;
