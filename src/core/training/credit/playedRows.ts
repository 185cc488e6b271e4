import * as z from 'zod';
import { colBenchPageProtocol, colBenchProtocol } from '../../dialogue/protocol';
import type { Exchange } from '../../dialogue/conversation';
import { isProgram } from '../../task/task';
import { parsePublishedRow, parseRow, type PublishedRow } from '../../trajectory/publishedRow';
import { readRows } from '../scoring/dialogues';
import type { PlayedDialogue } from './playedCredit';

/** Of Tandem's rows; published ones have the published protocol. */
const originSchema = z.looseObject({
  tandem: z
    .looseObject({
      episode: z.string().nullish(),
      protocol: z.object({ maxTurns: z.int(), replyLimit: z.int() }).nullish(),
      page: z
        .looseObject({ drafts: z.array(z.object({ turn: z.int().positive(), score: z.number() })).nullish() })
        .nullish(),
    })
    .nullish(),
});

/**
 * The dialogues of files of rows, each once.
 * @param onBad gets a sentence for each line that is no dialogue
 * @throws {Fault} as `readJsonLines`
 */
export async function playedDialogues(
  files: readonly string[],
  onBad: (sentence: string) => void,
  signal?: AbortSignal,
): Promise<PlayedDialogue[]> {
  const dialogues = new Map<string, PlayedDialogue>();
  const tell = (where: string, reason: string): void => onBad(`${where}: ${reason}`);
  for await (const { where, row } of readRows(files, dialogueOfRow, tell, signal)) {
    if (dialogues.has(row.id)) tell(where, 'it is read twice.');
    dialogues.set(row.id, row);
  }
  return [...dialogues.values()];
}

function dialogueOfRow(value: unknown): PlayedDialogue {
  const row = parsePublishedRow(value);
  const { tandem } = parseRow(originSchema, value);
  const protocol = tandem?.protocol ?? (isProgram(row.task) ? colBenchProtocol : colBenchPageProtocol);
  return {
    ...{ id: tandem?.episode ?? row.id, task: row.task, protocol },
    ...{ exchanges: exchangesOf(row), answer: row.answer, drafts: tandem?.page?.drafts ?? undefined },
  };
}

const exchangesOf = ({ messages }: PublishedRow): Exchange[] =>
  messages.flatMap((message, index) => {
    if (message.from === 'collaborator') return [];
    const next = messages[index + 1];
    return [{ agent: message.text, reply: next?.from === 'collaborator' ? next.text : undefined }];
  });
