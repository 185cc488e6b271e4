import { isFlag, isRecord, isText, isTexts, part } from '../kept';
import type { Copied, FormState } from './protocol';

/** The form as the editor has kept it; undefined when it is none, and the host says what it begins with. */
export function formOf(kept: unknown): FormState | undefined {
  const dataFolder = part(kept, 'dataFolder', isText);
  const values = part(kept, 'values', isTexts);
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

const isCopied = (value: unknown): value is Copied =>
  part(value, 'of', isText) !== undefined &&
  part(value, 'data', isText) !== undefined &&
  part(value, 'configuration', isRecord) !== undefined;
