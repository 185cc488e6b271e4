/** The inference process: one model, many turns at once. `InferenceProcess` starts it and talks to it. */
import { endAtOnce, endWithParent, tellParent } from '../../childProcess';
import { Fault } from '../../fault';
import { lazily } from '../../lazily';
import { Batch, type StartedTurn } from './batch';
import { Chat } from './chat';
import { openDecoder } from './openDecoder';
import { Opening, OpeningTokens } from './opening';
import { readLocalFolder } from './folder';
import { openWhereFastest } from './accelerator';
import type { FromInference, InferenceSettings, ToInference } from './process';
import { failed } from './requestProcess';

interface Model {
  readonly batch: Batch;
  readonly chat: Chat;
  readonly vocabulary: number;
  readonly tokens: () => OpeningTokens;
}

const tell = (message: FromInference): void => tellParent(message);

async function load({ graph: file, memoryBytes }: InferenceSettings): Promise<Model> {
  const { folder, bytes, contextLength } = readLocalFolder(file);
  const chat = new Chat(folder);
  const { graph, notes } = await openWhereFastest(file, bytes);
  const left = memoryBytes - bytes;
  const decoder = await openDecoder(graph, bytes, left);
  const batch = new Batch(decoder, chat, { contextLength, memoryBytes: left });
  tell({ kind: 'ready', provider: graph.provider, notes });
  const { vocabulary } = graph;
  return { batch, chat, vocabulary, tokens: lazily(() => new OpeningTokens(folder, vocabulary)) };
}

function requireKnown(ids: readonly number[], vocabulary: number, folder: string): void {
  const foreign = ids.find((id) => id >= vocabulary);
  if (foreign === undefined) return;
  throw new Fault(
    'model/damaged-folder',
    `The tokenizer in ${folder} is another model's: it has a token ${foreign}, and the graph knows ${vocabulary}. Copy or export the model again.`,
  );
}

const turns = new Map<number, StartedTurn>();

function generate(
  { batch, chat, vocabulary, tokens }: Model,
  { id, messages, openings, sampling, stream, alternatives, guide }: ToInference & { kind: 'generate' },
): void {
  try {
    const promptIds = chat.encode(messages);
    const told = guide && { ...guide, prompt: chat.encode(guide.prompt) };
    requireKnown([...promptIds, ...(told?.prompt ?? [])], vocabulary, chat.folder);
    const turn = batch.start({
      promptIds,
      sampling,
      alternatives,
      opening: openings && new Opening(tokens(), openings),
      guide: told,
      onText: stream ? (piece) => tell({ kind: 'text', id, ...piece }) : undefined,
      onDone: (turn) => {
        turns.delete(id);
        tell({ kind: 'done', id, ...turn });
      },
      onFailed: (reason) => {
        turns.delete(id);
        tell({ ...failed(reason), id });
      },
    });
    turns.set(id, turn);
    if (stream) tell({ kind: 'begun', id, promptIds });
  } catch (error) {
    tell({ ...failed(error), id });
  }
}

function cancel(id: number): void {
  turns.get(id)?.cancel();
  turns.delete(id);
}

const settings = JSON.parse(process.argv[2]!) as InferenceSettings;
const loading = load(settings);

process.on('message', (message: ToInference) => {
  void loading.then(
    (model) => {
      if (message.kind === 'generate') generate(model, message);
      else if (message.kind === 'finish') turns.get(message.id)?.finish();
      else cancel(message.id);
    },
    () => undefined, // reported below
  );
});
endWithParent();

loading.catch((error: unknown) => tellParent(failed(error), endAtOnce));
