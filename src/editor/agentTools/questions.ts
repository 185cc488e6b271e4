import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { packsNamed, type PlayInput } from '../../core/tools/playTools';
import type { ActingTool } from '../../core/tools/toolNames';
import type { StartInput, StopInput } from '../../core/tools/runs';
import { lineFor, sentenceFor, type OpenPlay, type PlayRequest, type Workplace } from '../../core/tools/tool';
import type { App } from '../app';
import { playOf } from '../collecting/commands';
import { dialogues } from '../words';
import { playersOf } from '../collecting/collect';
import type { Engine } from '../engine';

const { t } = vscode.l10n;

interface Question {
  readonly title: string;
  readonly message: string;
  readonly doing: string;
}

/** A person is asked also where nothing more can be said: what fails now may succeed once the tool is called. */
export async function questionOf(name: ActingTool, input: unknown, app: App): Promise<Question> {
  const { title, doing, about } = asking(input, app)[name];
  try {
    return { title, doing, message: lineFor(await about()) };
  } catch (error) {
    if (!(error instanceof Fault)) app.engine.report(error);
    return { title, doing, message: t('What it would do is not known: {0}', sentenceFor(error)) };
  }
}

/** @param input fits the tool whose question is taken */
function asking(
  input: unknown,
  app: App,
): Record<ActingTool, Omit<Question, 'message'> & { readonly about: () => Promise<string> | string }> {
  const played = (): Promise<string> => playWords(input as PlayInput, app);
  const { run, finish } = input as StopInput;
  return {
    tandem_collect: {
      title: t('Collect dialogues?'),
      doing: t('Collecting dialogues'),
      about: played,
    },
    tandem_evaluate: { title: t('Evaluate agents?'), doing: t('Evaluating agents'), about: played },
    tandem_start_run: {
      title: t('Start a training run?'),
      doing: t('Starting a run'),
      about: () => startWords(input as StartInput),
    },
    tandem_stop_run: {
      title: t('Stop a training run?'),
      doing: lineFor(finish === true ? t('Finishing {0}', run) : t('Stopping {0}', run)),
      about: () =>
        finish === true
          ? t('The training of {0} ends after its present step, and its model is written.', run)
          : t('{0} writes a checkpoint first, from which it can be resumed.', run),
    },
  };
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

/**
 * The log that the views show. A pack is played with the settings of its own folder, as *Collect Dialogues…* does.
 * @throws {Fault} `editor/no-folder`
 */
export function workplaceOf({ engines, packs, runStarter }: App): Workplace {
  const { engine } = engines.shown;
  return {
    ...engine.places(),
    packs: async () => (await packs.all()).map(({ file }) => file),
    withLog: async (use) => use(await engine.log()),
    openPlay: (request) => openPlay(engines.of(request.packs[0]), request),
    startRun: ({ configuration, ...base }, { signal }) =>
      runStarter.start(configuration, { ...base, signal }),
  };
}

async function openPlay(
  engine: Engine,
  { purpose, agents: specs, simulator }: PlayRequest,
): Promise<OpenPlay> {
  const [first, ...others] = specs;
  const { agent, sampling, ...players } = await playersOf(engine, { agent: first, simulator });
  const agents = [agent];
  for (const spec of others) agents.push(await engine.openAgent(spec));
  const { maxTokens } = engine.configuration.sampling;
  return {
    ...players,
    agents,
    sampling: purpose === 'evaluation' ? { temperature: 0, maxTokens } : sampling,
    grader: await engine.grader(),
    // Models, grader and log are shared with the rest of the window.
    close: () => Promise.resolve(),
  };
}
