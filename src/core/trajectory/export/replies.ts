import type { Turn } from '../trajectory';
import { origin, type ChatMessageLike, type Rendered } from './rows';
import type { CountLeftOut, Selection } from './selection';

type Reply = NonNullable<Turn['reply']>;

interface Asked {
  readonly turn: Turn;
  readonly reply: Reply;
  /** What the collaborator read before the reply. */
  readonly prompt: readonly ChatMessageLike[];
}

/** One row for each reply to imitate: people's, or those of the kind of collaborator that the filter names. */
export function replyRows(
  of: Rendered,
  count: CountLeftOut,
  { filter }: Pick<Selection, 'filter'>,
): object[] {
  const kind = filter?.collaboratorKind ?? 'developer';
  return asked(of).flatMap((one) => {
    if (kindOf(one.reply) !== kind) return [];
    if (one.turn.leak?.leaked === true) return count('replies that leaked');
    // A trained collaborator would learn to stop in the middle of a sentence.
    if (one.reply.fullText !== undefined) return count('replies cut at the limit');
    return [{ messages: [...one.prompt, says(one.reply.text)], tandem: replyOrigin(of, one) }];
  });
}

/** Preference rows: what a person made of a simulator's suggestion, and the suggestion. */
export function editRows(
  of: Rendered,
  count: CountLeftOut,
  { staysHere = false }: { readonly staysHere?: boolean },
): object[] {
  return asked(of).flatMap((one) => {
    const { text, author, suggestion, fullText, by } = one.reply;
    if (author !== 'developer-edited-suggestion' || suggestion === undefined || suggestion === text)
      return [];
    if (one.turn.leak?.leaked === true) return count('replies that leaked');
    if (fullText !== undefined) return count('replies cut at the limit');
    if (!staysHere && !of.consents.mayLeaveWithEdits(by))
      return count('edits that may not leave this machine');
    const sides = { chosen: [says(text)], rejected: [says(suggestion)] };
    return [{ prompt: one.prompt, ...sides, tandem: replyOrigin(of, one) }];
  });
}

/** Each assistant message is a reply; the messages since the one before it are its prompt. */
function asked({ messages, trajectory: { turns } }: Rendered): Asked[] {
  const ends = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  const replied = turns.flatMap((turn) => (turn.reply === undefined ? [] : [{ turn, reply: turn.reply }]));
  return ends.flatMap((end, index) => {
    const one = replied[index];
    return one === undefined ? [] : [{ ...one, prompt: messages.slice((ends[index - 1] ?? -1) + 1, end) }];
  });
}

function kindOf({ author, by }: Reply): 'developer' | 'simulator' | 'rules' {
  if (author !== 'simulator') return 'developer';
  return by === 'rules' ? 'rules' : 'simulator';
}

/** `role` keeps these rows out of runs that train the agent. */
function replyOrigin(of: Rendered, { turn, reply: { author, by, suggestedBy } }: Asked): object {
  return {
    ...origin(of),
    role: 'collaborator',
    turn: turn.agent.turn,
    reply_author: author,
    reply_by: by,
    ...(suggestedBy !== undefined && { reply_suggested_by: suggestedBy }),
  };
}

const says = (content: string): ChatMessageLike => ({ role: 'assistant', content });
