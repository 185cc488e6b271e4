/** The scoring process: one critic and its base. `ScoringProcess` starts it and talks to it. */
import { Fault, messageOf } from '../../../fault';
import { endAtOnce, endWithParent, tellParent } from '../../../parent';
import { criticGraphs, readCriticFile, type CriticFile } from './criticFile';
import type { CriticDialogue, FromScoring, ReadDialogue, ToScoring } from './protocol';
import { Scorer } from './scorer';
import { CriticTemplate } from './template';
import { textsOf } from './texts';
import { viewsOf } from './turns';

interface Critic {
  readonly about: CriticFile;
  readonly template: CriticTemplate;
  readonly critic: Scorer;
  readonly reference: Scorer;
}

async function load(folder: string): Promise<Critic> {
  const about = readCriticFile(folder);
  const template = new CriticTemplate(folder, about);
  const graphs = criticGraphs(folder);
  const [critic, reference] = await Promise.all([Scorer.open(graphs.critic), Scorer.open(graphs.reference)]);
  return { about, template, critic, reference };
}

async function read(dialogue: CriticDialogue, { about, template, ...by }: Critic): Promise<ReadDialogue> {
  const views = viewsOf(dialogue, template);
  template.forget();
  if ('why' in views) return views;
  const { plain, informed } = views;
  if (about.hidden_information && informed === undefined) {
    return {
      why: 'without hidden information',
      reason: 'Nothing hidden is known of its task, which the critic reads.',
    };
  }
  const critic = await by.critic.logProbs(about.hidden_information ? informed! : plain);
  const base = await by.reference.logProbs(plain);
  const knowing = informed && (await by.reference.logProbs(informed));
  return {
    turns: plain.map(({ response }, index) => ({
      ids: response,
      texts: textsOf(response, (ids) => template.decode(ids)),
      critic: critic[index]!,
      plain: base[index]!,
      ...(knowing && { informed: knowing[index]! }),
    })),
  };
}

const tell = (message: FromScoring): void => tellParent(message);

const failed = (error: unknown): { kind: 'failed'; code: string; message: string } => ({
  kind: 'failed',
  code: error instanceof Fault ? error.code : 'model/inference-failed',
  message: messageOf(error),
});

const loading = load(process.argv[2]!);
/** One dialogue after the other: each already keeps the processor busy. */
let queue: Promise<void> = loading.then(
  () => tell({ kind: 'ready' }),
  (error: unknown) => tellParent(failed(error), endAtOnce),
);

process.on('message', ({ id, dialogue }: ToScoring) => {
  queue = queue.then(async () => {
    try {
      tell({ kind: 'read', id, dialogue: await read(dialogue, await loading) });
    } catch (error) {
      tell({ ...failed(error), id });
    }
  });
});
endWithParent();
