import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { serverOf } from '../apiKeys';
import type { Configuration } from '../configuration';
import type { Engine } from '../engine';
import type { Connect } from './connect/connect';
import { editorSpec } from './editorModels';
import type { ModelFolders } from './folders';
import type { Party } from './nodes';
import { STARTER, type LocalPlace } from './places';
import { specOf, validateAddress, withoutSlash, type Server } from './servers';

/** A row of the list, and how it comes to the model's name; undefined when the person turned back. */
interface Choice extends vscode.QuickPickItem {
  readonly spec: () => Promise<string | undefined> | string;
}

/** Asks which model plays the agent or the simulator, and writes the setting. */
export class ModelChoice {
  constructor(
    private readonly configuration: Configuration,
    private readonly engine: Engine,
    private readonly folders: ModelFolders,
    private readonly connect: Connect,
  ) {}

  async choose(party: Party): Promise<void> {
    const now = party === 'agent' ? this.configuration.agent : this.configuration.simulator;
    const chosen = await vscode.window.showQuickPick(this.choices(party, now), {
      title: `Choose the ${party}`,
      placeHolder: now === '' ? 'None is chosen yet' : `Now: ${now}`,
      matchOnDetail: true,
    });
    const model = await chosen?.spec();
    if (model !== undefined) await this.configuration.set(party, model);
  }

  /** Asks for the key of a server, and first for which one when it is not said. */
  async setKey(address?: string): Promise<void> {
    const server = address ?? (await askAddress(serverOf(this.configuration.agent)));
    if (server !== undefined) await this.askKey(server);
  }

  private async choices(party: Party, now: string): Promise<Choice[]> {
    const isAgent = party === 'agent';
    const local = this.folders.places.filter(({ spec }) => isAgent || spec !== STARTER);
    const offered = await this.engine.editorModels.all();
    return [
      ...(isAgent ? [] : [rules]),
      ...local.map((place) => localChoice(place, now)),
      ...this.engine.servers.all.map((server) => serverChoice(server, now)),
      ...offered.map((chat) => editorChoice(chat, now)),
      {
        label: '$(folder) A model folder…',
        detail: 'Plays on this machine: one that you trained, or any in ONNX',
        spec: async () => (await this.folders.add())?.spec,
      },
      {
        label: '$(plug) A model on a server…',
        detail: isAgent
          ? "Anything that speaks OpenAI's API: OpenAI, vLLM, llama.cpp, Ollama, transformers serve"
          : 'Sees the hidden reference and answers as a human would',
        spec: () => this.connected(party),
      },
      {
        label: '$(file-code) A script file…',
        detail: `Plays canned ${isAgent ? 'turns' : 'replies'}: for tests and demonstrations`,
        spec: askScript,
      },
      ...(isAgent ? [] : [none]),
    ];
  }

  private async connected(party: Party): Promise<string | undefined> {
    const connected = await this.connect.add(party);
    return connected && specOf(connected.server);
  }

  private async askKey(server: string): Promise<void> {
    const key = await vscode.window.showInputBox({
      title: 'API key',
      prompt: `The key for ${server}. It is kept in the editor's secret storage. Leave it empty to remove it.`,
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return;
    try {
      await this.engine.servers.setKey(server, key.trim());
    } catch (error) {
      throw new Fault('editor/key-not-kept', `The key could not be stored: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

const rules: Choice = {
  label: '$(list-ordered) Rules',
  detail: "Answers from the task's facts, free and at once",
  spec: () => 'rules',
};

const none: Choice = {
  label: '$(circle-slash) None',
  detail: 'You answer every question yourself',
  spec: () => '',
};

function serverChoice(server: Server, now: string): Choice {
  const spec = specOf(server);
  const detail = `${server.model} at ${server.baseUrl}`;
  return { label: `$(server) ${server.name}`, description: playsNow(spec, now), detail, spec: () => spec };
}

function editorChoice(chat: vscode.LanguageModelChat, now: string): Choice {
  const spec = editorSpec(chat);
  const detail = `The editor offers it (${chat.vendor}); what it writes stays out of training data`;
  return { label: `$(vscode) ${chat.name}`, description: playsNow(spec, now), detail, spec: () => spec };
}

const playsNow = (spec: string, now: string): string => (spec === now ? 'plays now' : '');

function localChoice({ spec, name, folder, from }: LocalPlace, now: string): Choice {
  const detail =
    from === 'tandem'
      ? 'Ships with Tandem: no server, no key; knows only the tasks of the starter world'
      : vscode.workspace.asRelativePath(folder, false);
  return { label: `$(hubot) ${name}`, description: playsNow(spec, now), detail, spec: () => spec };
}

/** Of the servers that are known, or of any other. */
async function askAddress(value: string | undefined): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: 'Server',
    prompt: "The server's base URL; it usually ends in /v1.",
    ...(value === undefined ? {} : { value }),
    ignoreFocusOut: true,
    validateInput: validateAddress,
  });
  return address === undefined ? undefined : withoutSlash(address);
}

async function askScript(): Promise<string | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const [file] =
    (await vscode.window.showOpenDialog({
      title: 'Script file',
      openLabel: 'Choose',
      filters: { 'Scripts (JSON)': ['json'] },
      ...(folder === undefined ? {} : { defaultUri: folder }),
    })) ?? [];
  return file === undefined ? undefined : `script:${vscode.workspace.asRelativePath(file, false)}`;
}
