import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { packsNamed, type PlayInput } from '../../core/tools/playTools';
import type { ActingTool } from '../../core/tools/toolNames';
import type { StartInput, StopInput } from '../../core/tools/runs';
import { lineFor, sentenceFor } from '../../core/tools/tool';
import type { App } from '../app';
import { playOf } from '../collecting/commands';
import { dialogues } from '../words';
import { workplaceOf } from './workplace';

const { t } = vscode.l10n;

interface Question {
  readonly title: string;
  readonly message: string;
  /** Invocation message, shown once the person has agreed. */
  readonly doing: string;
}

/** A person is asked also where nothing more can be said: what fails now may succeed once the tool is called. */
export async function questionOf(name: ActingTool, input: unknown, app: App): Promise<Question> {
  const question = plainQuestion(name, input);
  try {
    return { ...question, message: lineFor(await messageFor(name, input, app)) };
  } catch (error) {
    if (!(error instanceof Fault)) app.engine.report(error);
    return { ...question, message: t('What it would do is not known: {0}', sentenceFor(error)) };
  }
}

function plainQuestion(name: ActingTool, input: unknown): Omit<Question, 'message'> {
  switch (name) {
    case 'tandem_collect':
      return { title: t('Collect dialogues?'), doing: t('Collecting dialogues') };
    case 'tandem_evaluate':
      return { title: t('Evaluate agents?'), doing: t('Evaluating agents') };
    case 'tandem_start_run':
      return { title: t('Start a training run?'), doing: t('Starting a run') };
    case 'tandem_stop_run':
      return { title: t('Stop a training run?'), doing: stopping(input as StopInput) };
  }
}

function messageFor(name: ActingTool, input: unknown, app: App): Promise<string> | string {
  switch (name) {
    case 'tandem_collect':
    case 'tandem_evaluate':
      return playWords(input as PlayInput, app);
    case 'tandem_start_run':
      return startWords(input as StartInput);
    case 'tandem_stop_run':
      return stopWords(input as StopInput);
  }
}

async function playWords(
  { packs, tasks, rollouts = 1, agent, agents = agent === undefined ? [] : [agent], simulator }: PlayInput,
  app: App,
): Promise<string> {
  const [file] = await packsNamed(packs, workplaceOf(app));
  const engine = app.engines.of(file);
  const specs = agents.length === 0 ? [engine.agentName] : agents;
  const players = await Promise.all(specs.map((spec) => playOf(engine, spec, simulator)));
  const count = tasks * rollouts;
  const names = players.map((play) => play.agent).join(', ');
  const who = t(
    'This plays up to {0} of {1} with {2} about tasks of {3}, grades the answers and logs everything.',
    dialogues(count * specs.length, t),
    names,
    players[0]!.simulator,
    packs.join(', '),
  );
  const estimates = players
    .map((play) => ({ name: play.agent, words: play.estimate(count) }))
    .filter(({ words }) => words !== '')
    .map(({ name, words }) => (players.length === 1 ? words : t('{0}: {1}', name, words)));
  return [who, ...estimates].join(' ');
}

function startWords({ configuration }: StartInput): string {
  if (typeof configuration === 'string')
    return t('A model is trained on this machine as {0} says.', configuration);
  const { model } = configuration;
  const base = typeof model === 'object' && model !== null && 'base' in model ? String(model.base) : '–';
  return t('A model that begins as {0} is trained on this machine.', base);
}

const stopping = ({ run, finish }: StopInput): string =>
  lineFor(finish === true ? t('Finishing {0}', run) : t('Stopping {0}', run));

const stopWords = ({ run, finish }: StopInput): string =>
  finish === true
    ? t('The training of {0} ends after its present step, and its model is written.', run)
    : t('{0} writes a checkpoint first, from which it can be resumed.', run);
