import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { withAnswer } from '../../core/task/python/placing';

export const proposalSchema = lazily(() =>
  z.object({
    /** URI of the file, as a string. */
    file: z.string(),
    code: z.string(),
    /** The function that it replaces; if the file has none of this name, it is appended to the file. */
    name: z.string().optional(),
    /** Line of that function when the answer was asked for. */
    near: z.number().optional(),
    /** The dialogue that ends with it; absent where nothing is logged. */
    episode: z.string().optional(),
  }),
);

export type Proposal = z.infer<ReturnType<typeof proposalSchema>>;

export function proposed(source: string, { code, name, near }: Proposal): string {
  return withAnswer(source, code, { name, near });
}

export function changeOf(
  before: string,
  after: string,
): { readonly start: number; readonly end: number; readonly text: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let behind = 0;
  while (behind < most - start && before.at(-1 - behind) === after.at(-1 - behind)) behind += 1;
  return { start, end: before.length - behind, text: after.slice(start, after.length - behind) };
}
