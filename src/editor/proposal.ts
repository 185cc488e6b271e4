import * as z from 'zod';
import { lazily } from '../core/lazily';

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
