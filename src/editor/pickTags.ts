import * as vscode from 'vscode';
import { MAX_LENGTHS } from '../core/training/runNotes';
import { pickOrType, type KnownWord } from './pickOrType';
import { valueOf } from './inputSteps';

const { t } = vscode.l10n;

/** @returns all ticked and new tags; undefined when the person cancelled */
export async function pickTags(
  title: string,
  known: readonly KnownWord[],
): Promise<readonly string[] | undefined> {
  const given = await pickOrType({
    ...{ title, known, label: (tag) => `#${tag}`, unknown: t('new'), refuse: wrongTags },
    placeholder: t('Select tags, or type new ones with commas between them'),
  });
  return valueOf(given);
}

function wrongTags(tags: readonly string[]): string | undefined {
  if (tags.length > MAX_LENGTHS.tags)
    return t('These are too many: write at most {0} tags.', MAX_LENGTHS.tags);
  const long = tags.find((tag) => tag.length > MAX_LENGTHS.tag);
  return long === undefined ? undefined : t('Too long, at most {0} characters: “{1}”', MAX_LENGTHS.tag, long);
}
