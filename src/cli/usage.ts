import type { ModelCounts } from '../core/model/model';

/** The fields of a model or a simulator that describe its use. */
interface Used {
  readonly name: string;
  readonly counts?: ModelCounts;
  readonly notes?: readonly string[];
}

/** Returns lines on a model's requests and tokens, and its notes. */
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
