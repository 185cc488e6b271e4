import type { ModelCounts } from '../core/model/model';

interface Used {
  readonly name: string;
  readonly counts?: ModelCounts;
  readonly notes?: readonly string[];
}

/** Requests, tokens and notes of a model. */
export function usageOf({ name, counts, notes = [] }: Used): string[] {
  if (counts === undefined || counts.requests === 0) return [...notes];
  const { requests, retries, promptTokens, completionTokens, answersWithoutUsage } = counts;
  const uncounted =
    answersWithoutUsage === 0
      ? ''
      : `; for ${answersWithoutUsage} of the answers the server gave no token counts, so these are too low`;
  return [
    `${name}: ${requests} requests, ${retries} repeated, ${promptTokens} tokens read, ${completionTokens} written${uncounted}.`,
    ...notes,
  ];
}
