import * as vscode from 'vscode';
import { factsIn, factsOfTests, factsQuestion } from '../../core/task/drafted';
import { listIn } from '../../core/text';
import { Fault } from '../../core/fault';
import type { Fact } from '../../core/task/task';
import type { Engine } from '../engine';
import { cancellable } from '../progress';

const { t } = vscode.l10n;

interface TaskBeforeFacts {
  readonly name: string;
  readonly request: string;
  readonly reference: string;
  readonly tests: readonly string[];
}

interface Row extends vscode.QuickPickItem {
  readonly run: () => Promise<void> | 'done' | undefined;
  readonly fact?: Fact;
}

/** Asks for the facts that the rules tell when they play the collaborator. The list may be empty. */
export async function askFacts(engine: Engine, task: TaskBeforeFacts): Promise<readonly Fact[] | undefined> {
  let facts: readonly Fact[] = [];
  const replace = async (old: Fact | undefined): Promise<void> => {
    const edited = await editFact(task.name, old);
    if (edited === undefined) return;
    facts = old === undefined ? [...facts, edited] : facts.map((each) => (each === old ? edited : each));
  };
  const add = (drafted: readonly Fact[] | undefined): void => {
    const topics = new Set(facts.map(({ topic }) => topic));
    facts = [...facts, ...(drafted ?? []).filter(({ topic }) => !topics.has(topic))];
  };
  const model = drafter(engine);
  for (;;) {
    const examples = factsOfTests(task.tests, task.name);
    const row = await pickRow(task.name, [
      {
        label: facts.length === 0 ? t('$(check) Without Facts') : t('$(check) Done'),
        detail:
          facts.length === 0
            ? t('Only a developer or a model can reply in this task.')
            : t('The simulator (rules) can reply in this task.'),
        run: () => 'done',
      },
      ...facts.map((fact) => ({
        label: fact.topic,
        description: fact.answers[0]!,
        fact,
        buttons: [{ iconPath: new vscode.ThemeIcon('trash'), tooltip: t('Remove') }],
        run: () => replace(fact),
      })),
      { label: t('$(add) Add a Fact…'), run: () => replace(undefined) },
      ...(model === undefined
        ? []
        : [
            {
              label: t('$(sparkle) Draft by {0}', engine.calledBy(model)),
              detail: t('It gets the request and the code of the function.'),
              run: async () => add(await drafted(engine, model, task)),
            },
          ]),
      ...(examples.length === 0
        ? []
        : [
            {
              label: t('$(beaker) Draft from the Tests'),
              run: () => {
                add(examples);
                return undefined;
              },
            },
          ]),
    ]);
    if (row === undefined) return undefined;
    if ('removed' in row) facts = facts.filter((each) => each !== row.removed);
    else if ((await row.run()) === 'done') return facts;
  }
}

/** Returns the model that drafts: the simulator, else the agent; rules and the starter model cannot. */
function drafter({ simulatorName, agentName }: Engine): string | undefined {
  return [simulatorName, agentName].find((name) => !['', 'rules', 'starter'].includes(name));
}

/** @throws {Fault} `editor/no-facts` when the model wrote something else */
async function drafted(engine: Engine, name: string, task: TaskBeforeFacts): Promise<Fact[] | undefined> {
  return cancellable(t('{0} drafts facts', engine.calledBy(name)), async (signal) => {
    const model = await engine.modelNamed(name);
    const { text } = await model.generate(factsQuestion(task), engine.samplingOf(name), { signal });
    const facts = factsIn(text);
    if (facts !== undefined) return facts;
    throw new Fault(
      'editor/no-facts',
      t('{0} did not write a list of facts. Draft again, or add them yourself.', engine.calledBy(name)),
    );
  });
}

function pickRow(name: string, rows: readonly Row[]): Promise<Row | { removed: Fact } | undefined> {
  const list = vscode.window.createQuickPick<Row>();
  list.title = t('Create Task from {0}: facts', name);
  list.placeholder = t('What the simulator (rules) may reveal when asked, one decision at a time');
  list.ignoreFocusOut = true;
  list.items = rows;
  return new Promise((resolve) => {
    list.onDidAccept(() => {
      resolve(list.selectedItems[0]);
      list.hide();
    });
    list.onDidTriggerItemButton(({ item: { fact } }) => {
      if (fact !== undefined) resolve({ removed: fact });
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
}

/** Asks for a fact in three inputs. Cancelling leaves the fact as it was. */
async function editFact(name: string, fact: Fact | undefined): Promise<Fact | undefined> {
  const ask = (prompt: string, value: string): Thenable<string | undefined> =>
    vscode.window.showInputBox({
      ...{ title: t('Create Task from {0}: facts', name), prompt, value, ignoreFocusOut: true },
      validateInput: (text) => (listIn(text, '|').length === 0 ? t('Write something here.') : undefined),
    });
  const topic = await ask(t('What the fact is about, in a few words'), fact?.topic ?? '');
  if (topic === undefined) return undefined;
  const answers = await ask(
    t('What the simulator says, in full sentences. Separate other wordings with |.'),
    fact?.answers.join(' | ') ?? '',
  );
  if (answers === undefined) return undefined;
  const keywords = await ask(
    t('Words that a question about it would contain, with commas between them'),
    fact?.keywords.join(', ') ?? topic.trim(),
  );
  if (keywords === undefined) return undefined;
  return { topic: topic.trim(), keywords: listIn(keywords, ','), answers: listIn(answers, '|') };
}
