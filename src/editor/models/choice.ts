import * as vscode from 'vscode';
import { specificationName, type Persona } from '../../core/dialogue/specification/specificationSpec';
import { Fault, messageOf } from '../../core/fault';
import { baseUrlOf, originOf } from '../../core/model/address';
import { isShipped } from '../../core/model/shippedModels';
import type { FolderSettings } from '../configuration';
import type { Engine } from '../engine';
import type { Connect } from './connect/connect';
import { editorSpec } from '../editorModels';
import type { ModelFolders } from './folders';
import type { LocalPlace } from '../localModels';
import type { Role } from '../roles';
import { specOf, validateAddress, withoutSlash, type Server } from '../servers';
import type { OfferedCritic } from '../credit/critics';
import { shippedWords } from '../words';

const { t } = vscode.l10n;

/** `spec` may ask for the model's name; then it returns undefined on cancel. */
interface SpecChoice extends vscode.QuickPickItem {
  readonly spec: string | (() => Promise<string | undefined>);
}

async function chosenSpec({ spec }: SpecChoice): Promise<string | undefined> {
  return typeof spec === 'string' ? spec : spec();
}

export class ModelChoice {
  constructor(
    private readonly configuration: FolderSettings,
    private readonly engine: Engine,
    private readonly folders: ModelFolders,
    private readonly connect: Connect,
    private readonly composed: Pick<ComposedAgents, 'mixture' | 'refined'>,
  ) {}

  async choose(role: 'agent' | 'simulator'): Promise<void> {
    const now = this.configuration[role];
    const chosen = await vscode.window.showQuickPick(this.choices(role, now), {
      title: role === 'agent' ? t('Choose the Agent') : t('Choose the Simulator'),
      placeHolder: now === '' ? t('None is chosen yet') : t('Now: {0}', this.engine.calledBy(now)),
      matchOnDetail: true,
    });
    const model = chosen && (await chosenSpec(chosen));
    if (model !== undefined) await this.configuration.set(role, model);
  }

  /** Asks for the server's address, too, when none is given. */
  async setKey(address?: string): Promise<void> {
    const server = address ?? (await askAddress(baseUrlOf(this.configuration.agent)));
    if (server !== undefined) await this.askKey(server);
  }

  /** @param now the model in that role; empty when there is none */
  async choices(role: Role, now: string): Promise<SpecChoice[]> {
    const isAgent = role !== 'simulator';
    const local = this.folders.places.filter(({ spec }) => isAgent || !isShipped(spec));
    const offered = await this.engine.editorModels.all();
    const known = [
      ...local.map((place) => localChoice(place, now)),
      ...this.engine.servers.all.map((server) => serverChoice(server, now)),
      ...offered.map((chat) => editorChoice(chat, now)),
    ];
    return [
      ...(isAgent ? [] : [rules]),
      ...known,
      {
        label: `$(folder) ${t('A model folder…')}`,
        detail: t('Plays on this machine: one that you trained, or any ONNX model'),
        spec: async () => (await this.folders.add())?.spec,
      },
      {
        label: `$(plug) ${t('A model on a server…')}`,
        detail: isAgent
          ? t('Any OpenAI-compatible API: OpenAI, vLLM, llama.cpp, Ollama, transformers serve')
          : t('Sees the hidden reference and replies as a developer would'),
        spec: () => this.connected(role),
      },
      {
        label: `$(file-code) ${t('A script file…')}`,
        detail: isAgent
          ? t('Plays canned turns: for tests and demonstrations')
          : t('Plays canned replies: for tests and demonstrations'),
        spec: askScript,
      },
      ...(isAgent ? this.composedChoices(known) : [this.specified(known), none]),
    ];
  }

  private specified(models: readonly PartChoice[]): SpecChoice {
    return {
      label: `$(checklist) ${t('A model that sees requirements only…')}`,
      detail: t('It is given the task’s facts or specification and a persona, and never the reference'),
      spec: () => chooseSpecified(models),
    };
  }

  private composedChoices(models: readonly PartChoice[]): SpecChoice[] {
    return [
      {
        label: `$(law) ${t('Models whose messages a critic chooses…')}`,
        detail: t('Each writes candidates for a message, and the one that the critic likes best is said'),
        spec: () => this.composed.mixture(models),
      },
      {
        label: `$(git-compare) ${t('A model that asks where its drafts differ…')}`,
        detail: t('Before it answers, several drafts are run against each other'),
        spec: () => this.composed.refined(models),
      },
    ];
  }

  private async connected(role: Role): Promise<string | undefined> {
    const connected = await this.connect.add(role);
    return connected && specOf(connected.server);
  }

  private async askKey(server: string): Promise<void> {
    const key = await vscode.window.showInputBox({
      title: t('API key'),
      prompt: t(
        'The key for {0}. It is kept in the editor’s secret storage. Leave it empty to remove it.',
        originOf(server) ?? server,
      ),
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return;
    try {
      await this.engine.servers.setKey(server, key.trim());
    } catch (error) {
      throw new Fault('editor/key-not-kept', t('The key could not be stored: {0}', messageOf(error)), {
        cause: error,
      });
    }
  }
}

const rules: SpecChoice = {
  label: `$(list-ordered) ${t('Simulator (rules)')}`,
  detail: t('Replies from the task’s facts, free and instant'),
  spec: 'rules',
};

const none: SpecChoice = {
  label: `$(circle-slash) ${t('None')}`,
  detail: t('You write every reply yourself'),
  spec: '',
};

function serverChoice(server: Server, now: string): PartChoice {
  const spec = specOf(server);
  const { name, model, baseUrl } = server;
  const detail = name === model ? baseUrl : t('{0} at {1}', model, baseUrl);
  return { label: `$(server) ${name}`, description: playsNow(spec, now), detail, spec };
}

function editorChoice(chat: vscode.LanguageModelChat, now: string): PartChoice {
  const spec = editorSpec(chat);
  const detail = t('The editor offers it ({0}); what it writes stays out of training data', chat.vendor);
  return { label: `$(vscode) ${chat.name}`, description: playsNow(spec, now), detail, spec };
}

const playsNow = (spec: string, now: string): string => (spec === now ? t('in use') : '');

function localChoice({ spec, name, folder }: LocalPlace, now: string): PartChoice {
  const detail = isShipped(spec) ? shippedWords(spec, t) : vscode.workspace.asRelativePath(folder, false);
  return { label: `$(hubot) ${name}`, description: playsNow(spec, now), detail, spec };
}

async function askAddress(value: string | undefined): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: t('Server'),
    prompt: t('The server’s base URL; it usually ends in /v1.'),
    ...(value === undefined ? {} : { value }),
    ignoreFocusOut: true,
    validateInput: (text) => validateAddress(text, t),
  });
  return address === undefined ? undefined : withoutSlash(address);
}

async function askScript(): Promise<string | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('Script file'),
      openLabel: t('Choose'),
      filters: { [t('Scripts (JSON)')]: ['json'] },
      ...(folder === undefined ? {} : { defaultUri: folder }),
    })) ?? [];
  return file === undefined ? undefined : `script:${vscode.workspace.asRelativePath(file, false)}`;
}

type CandidateRow = SpecChoice | (vscode.QuickPickItem & { readonly spec: undefined });

export class SecondAgentChoice {
  constructor(
    private readonly configuration: FolderSettings,
    private readonly models: Pick<ModelChoice, 'choices'>,
  ) {}

  async choose(): Promise<void> {
    const chosen = await vscode.window.showQuickPick(this.rows(), {
      title: t('Two candidates for each message of the agent'),
      placeHolder: t(
        'Choose which models write them, in dialogues about tasks. They are unnamed and in random order.',
      ),
      matchOnDetail: true,
    });
    if (chosen === undefined) return;
    if (chosen.spec === undefined) {
      await this.configuration.set('candidates.show', false);
      return;
    }
    const second = await chosenSpec(chosen);
    if (second !== undefined) await this.show(second);
  }

  /** @param second empty when the agent writes both */
  async show(second: string): Promise<void> {
    await this.configuration.set('candidates.secondAgent', second);
    await this.configuration.set('candidates.show', true);
  }

  private async rows(): Promise<CandidateRow[]> {
    const { agent, secondAgent, showsCandidates } = this.configuration;
    const now = (isNow: boolean): string => (isNow ? t('now') : '');
    const all = await this.models.choices('secondAgent', showsCandidates ? secondAgent : '');
    const isListed = secondAgent === '' || all.some(({ spec }) => spec === secondAgent);
    return [
      {
        label: `$(split-horizontal) ${t('The agent writes both')}`,
        detail: t('One model, two seeds: which message is better?'),
        description: now(showsCandidates && secondAgent === ''),
        spec: '',
      },
      ...(isListed
        ? []
        : [
            {
              label: `$(hubot) ${secondAgent}`,
              detail: t('Writes the second candidate: which model is better?'),
              description: now(showsCandidates),
              spec: secondAgent,
            },
          ]),
      ...all.filter(({ spec }) => spec !== agent || spec === secondAgent),
      {
        label: `$(circle-slash) ${t('One message at a time')}`,
        detail: t('No candidates'),
        description: now(!showsCandidates),
        spec: undefined,
      },
    ];
  }
}

/** A model of which an agent can be composed. */
interface PartChoice extends vscode.QuickPickItem {
  readonly spec: string;
}

/** Asks what an agent is made of, and returns its name; undefined when the person cancelled. */
export class ComposedAgents {
  /** @param critics those of this workspace */
  constructor(private readonly critics: () => Promise<readonly OfferedCritic[]>) {}

  /** @throws {Fault} `editor/no-critic` if no critic here can choose at play */
  async mixture(models: readonly PartChoice[]): Promise<string | undefined> {
    const fit = (await this.critics()).filter(canChoose);
    if (fit.length === 0) {
      throw new Fault(
        'editor/no-critic',
        t(
          'No critic in this workspace can choose between messages. In New Run…, train one with SWEET-RL that does not see the hidden information, and let the run write ONNX graphs.',
        ),
      );
    }
    const title = t('A Critic Chooses');
    const parts = await vscode.window.showQuickPick(models, {
      ...{ title, canPickMany: true, matchOnDetail: true },
      placeHolder: t('Choose the models that write candidates for each message: one or more'),
    });
    if (parts === undefined || parts.length === 0) return undefined;
    const rows = fit.map((critic) => ({ label: `$(law) ${critic.name}`, detail: critic.about, critic }));
    const chosen = await vscode.window.showQuickPick(rows, {
      title,
      placeHolder: t('Choose the critic: the message with its highest score is said'),
    });
    return chosen && `mixture:${parts.map(({ spec }) => spec).join('+')},critic=${chosen.critic.folder}`;
  }

  async refined(models: readonly PartChoice[]): Promise<string | undefined> {
    const model = await vscode.window.showQuickPick(models, {
      title: t('Ask Where Drafts Differ'),
      placeHolder: t('Choose the model that writes the drafts'),
      matchOnDetail: true,
    });
    return model && `refine:${model.spec}`;
  }
}

/** Asks which model plays from requirements, and as whom. */
export async function chooseSpecified(models: readonly PartChoice[]): Promise<string | undefined> {
  const title = t('Requirements Only');
  const model = await vscode.window.showQuickPick(models, {
    ...{ title, matchOnDetail: true },
    placeHolder: t('Choose the model that replies'),
  });
  if (model === undefined) return undefined;
  const words: Readonly<Record<Persona, string>> = {
    patient: t('Answers every question in full'),
    terse: t('Answers in a few words, one question at a time'),
    vague: t('Is exact only when asked a second time'),
    'changes-mind': t('Takes back a preference, but never a requirement'),
  };
  const rows = (Object.entries(words) as [Persona, string][]).map(([persona, detail]) => ({
    ...{ label: persona, detail, persona },
  }));
  const chosen = await vscode.window.showQuickPick(rows, { title, placeHolder: t('Choose the persona') });
  return chosen && specificationName({ model: model.spec, persona: chosen.persona });
}

/** At play nobody may read the hidden information, and scores come from graphs. */
const canChoose = ({ figures }: OfferedCritic): boolean =>
  !('problem' in figures) && figures.critic.runner === 'onnx' && !figures.critic.about.hidden_information;
