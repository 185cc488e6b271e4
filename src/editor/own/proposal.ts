import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { appended, placed, withPlaced } from '../../core/task/python/placing';

/** An answer that may go into a file. */
export const proposalSchema = lazily(() =>
  z.object({
    /** The file's address. */
    file: z.string(),
    code: z.string(),
    /** The function whose place it takes; without one, or where the file has none of that name, it goes to the end. */
    name: z.string().optional(),
    /** The line of that function when the answer was asked for. */
    near: z.number().optional(),
    /** The dialogue that it ends; absent where nothing is logged. */
    episode: z.string().optional(),
  }),
);

export type Proposal = z.infer<ReturnType<typeof proposalSchema>>;

/** The whole file as it would be. */
export function proposed(source: string, { code, name, near = 0 }: Proposal): string {
  const place = name === undefined ? undefined : placed(source, code, { name, near });
  return withPlaced(source, place ?? appended(source, code));
}

/** The smallest piece of a text that has to change for it to become another. */
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
