import type { ModelCounts } from '../core/model/model';

/** A model or a simulator, as far as its use is told. */
interface Used {
  readonly name: string;
  readonly counts?: ModelCounts;
  readonly notes?: readonly string[];
}

/** What a model was asked, and what its server does not give. */
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
