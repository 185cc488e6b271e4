import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { simulatorModel } from '../../core/dialogue/specification/specificationSpec';
import { Fault, messageOf } from '../../core/fault';
import { brokenClaim, type BrokenClaim } from '../../core/grading/brokenClaim';
import { MB, readText } from '../../core/regularFile';
import { equalityIn } from '../../core/task/python/asserts';
import type { ProgramTask, Fact } from '../../core/task/task';
import { ifThere } from '../../core/trajectory/files';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { cancellable } from '../progress';
import type { Packs } from '../packs';
import { askRequest, pointedAt, type FunctionAtCursor } from './functionAtCursor';
import { claimsAbout, withLateProgress } from './testFiles';
import { factsIn, factsOfTests, factsQuestion } from '../../core/task/own';
import { listIn } from '../../core/text';

const { t } = vscode.l10n;

const PACK = 'private-tasks.jsonl';

/** Makes a task of a private pack. Nothing is written before the reference has passed its own tests. */
export async function makeTask(engines: Engines, packs: Packs): Promise<void> {
  const pointed = pointedAt();
  if (pointed.function.indent !== '') {
    throw new Fault(
      'editor/no-top-level',
      t('{0} is nested and cannot run by itself. Choose a top-level function.', pointed.function.name),
    );
  }
  const folder = vscode.workspace.getWorkspaceFolder(pointed.document.uri);
  if (folder === undefined) {
    throw new Fault('editor/no-folder', t('Open the folder of this file first: the pack is kept in it.'));
  }
  const tests = await askTests(pointed);
  const request =
    tests &&
    (await askRequest(
      pointed.function,
      t('Create Task from {0}: request', pointed.function.name),
      t('What everyone sees, with the signature behind it. Leave out what the agent should have to ask.'),
    ));
  if (tests === undefined || request === undefined) return;
  const { packLine, taskFromFunction } = await import('../../core/task/own');
  const source = pointed.document.getText();
  const drafted = { request, tests: tests.all };
  const task = taskFromFunction(source, pointed.function, drafted);
  const engine = engines.of(pointed.document.uri.fsPath);
  const isVerified = await cancellable(t('Running the reference against its own tests'), async (signal) => {
    await verify(engine, task, pointed.function.name, tests.claims, signal);
    return true;
  });
  if (isVerified !== true) return;
  const { name } = pointed.function;
  const facts = await askFacts(engine, { ...drafted, name, reference: task.reference });
  if (facts === undefined) return;
  const file = path.join(folder.uri.fsPath, PACK);
  await append(file, packLine(taskFromFunction(source, pointed.function, { ...drafted, facts })));
  packs.refresh();
  await tell(file, name, tests.all.length);
}

interface ChosenTests {
  readonly all: readonly string[];
  /** Tests that the function must fulfil; the others do not state what it returns. */
  readonly claims: readonly string[];
}

/** Offers the tests that were found in the workspace, and takes others that the person types. */
async function askTests({ function: { name } }: FunctionAtCursor): Promise<ChosenTests | undefined> {
  const { typedCalls } = await import('../../core/task/own');
  const title = t('Create Task from {0}: hidden tests', name);
  const claims = await withLateProgress(t('Looking for the tests of {0}', name), (signal) =>
    claimsAbout(name, signal),
  );
  if (claims === undefined) return undefined;
  let chosen: readonly string[] = [];
  if (claims.length > 0) {
    const picked = await vscode.window.showQuickPick(
      claims.map((label) => ({ label, picked: true })),
      {
        title,
        placeHolder: t('Asserts from the tests of this workspace'),
        canPickMany: true,
        ignoreFocusOut: true,
      },
    );
    if (picked === undefined) return undefined;
    chosen = picked.map(({ label }) => label);
  }
  const typed = await vscode.window.showInputBox({
    title,
    prompt: t(
      'Tests of your own, separated by semicolons. {0}(1) == 2 expects 2; {0}(1) alone expects what the function returns now.',
      name,
    ),
    placeHolder: `${name}(1) == 2; ${name}(2)`,
    ignoreFocusOut: true,
    validateInput: (text) =>
      chosen.length === 0 && typedCalls(text).length === 0 ? t('A task needs at least one test.') : undefined,
  });
  if (typed === undefined) return undefined;
  const added = typedCalls(typed);
  return {
    all: [...new Set([...chosen, ...added])],
    claims: [...new Set([...chosen, ...added.filter((test) => equalityIn(test, name) !== undefined)])],
  };
}

/** @throws {Fault} `editor/not-verified` when the reference does not pass its own tests, or cannot be graded here */
async function verify(
  engine: Engine,
  task: ProgramTask,
  name: string,
  claims: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const grader = await engine.grader();
  const mode = engine.gradingMode;
  const [failure] = await grader.checkReference(task, { mode, signal });
  if (failure !== undefined) throw notVerified(failure);
  const broken = await brokenClaim(grader, { code: task.reference, name, claims }, signal);
  if (broken !== undefined) throw notVerified(told(broken));
  const grade = await grader.grade(task, task.reference, { mode, signal });
  if (grade.success === true) return;
  const failing = grade.tests.findIndex(({ status }) => status !== 'passed');
  throw notVerified(
    grade.notGradable ??
      t('{0} returns a different result each time it is called.', task.testCases[failing]?.call ?? ''),
  );
}

function told({ claim, values, failure }: BrokenClaim): string {
  if (failure !== undefined) return t('{0} ends with {1}.', claim, failure);
  if (values === undefined) return t('{0} is not true of it.', claim);
  return t('Expected {0} to be {1}, got {2}.', values.call, values.wanted, values.got);
}

function notVerified(why: string): Fault {
  return new Fault(
    'editor/not-verified',
    t('The task was not written, because the function does not pass its own tests: {0}', why),
  );
}

async function append(file: string, line: string): Promise<void> {
  try {
    const before = (await ifThere(() => readText(file, 64 * MB))) ?? '';
    await appendFile(file, before === '' || before.endsWith('\n') ? line : `\n${line}`);
  } catch (error) {
    throw new Fault(
      'editor/pack-not-written',
      t('{0} could not be written: {1}', vscode.workspace.asRelativePath(file), messageOf(error)),
      { cause: error },
    );
  }
}

async function tell(file: string, name: string, tests: number): Promise<void> {
  const show = t('Show Tasks');
  const where = vscode.workspace.asRelativePath(file);
  const sentence =
    tests === 1
      ? t('{0} is a task of {1} now, with 1 hidden test.', name, where)
      : t('{0} is a task of {1} now, with {2} hidden tests.', name, where, tests);
  const pressed = await vscode.window.showInformationMessage(sentence, show);
  if (pressed === show) await vscode.commands.executeCommand(`${views.tasks}.focus`);
}

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
async function askFacts(engine: Engine, task: TaskBeforeFacts): Promise<readonly Fact[] | undefined> {
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
  // Rules and the starter model cannot draft.
  const players = [simulatorModel(engine.simulatorName), engine.agentName];
  const model = players.find((name) => !['', 'rules', 'starter'].includes(name));
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
