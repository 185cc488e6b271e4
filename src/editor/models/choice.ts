import * as vscode from 'vscode';
import { messageOf } from '../../core/fault';
import { serverOf, type ApiKeys } from '../apiKeys';
import type { Configuration } from '../configuration';
import type { ModelFolders, Party } from './folders';
import { STARTER, type LocalPlace } from './places';
import { listModels, validateAddress } from './servers';

/** A row of the list, and how it comes to the model's name; undefined when the person turned back. */
interface Choice extends vscode.QuickPickItem {
  readonly spec: () => Promise<string | undefined> | string;
}

/** Asks which model plays the agent or the simulator, and writes the setting. */
export class ModelChoice {
  constructor(
    private readonly configuration: Configuration,
    private readonly keys: ApiKeys,
    private readonly folders: ModelFolders,
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

  /** Asks for the key of a server, by default that of the agent. */
  async setKey(): Promise<void> {
    const server = await askAddress(serverOf(this.configuration.agent));
    if (server !== undefined) await this.askKey(server);
  }

  private choices(party: Party, now: string): Choice[] {
    const isAgent = party === 'agent';
    const local = this.folders.places.filter(({ spec }) => isAgent || spec !== STARTER);
    return [
      ...(isAgent ? [] : [rules]),
      ...local.map((place) => localChoice(place, now)),
      {
        label: '$(folder) A model folder…',
        detail: 'Plays on this machine: one that you trained, or any in ONNX',
        spec: async () => (await this.folders.add())?.spec,
      },
      {
        label: '$(server) A model on a server…',
        detail: isAgent
          ? "Anything that speaks OpenAI's API: OpenAI, vLLM, llama.cpp, Ollama, transformers serve"
          : 'Sees the hidden reference and answers as a human would',
        spec: () => this.askServed(),
      },
      {
        label: '$(file-code) A script file…',
        detail: `Plays canned ${isAgent ? 'turns' : 'replies'}: for tests and demonstrations`,
        spec: askScript,
      },
      ...(isAgent ? [] : [none]),
    ];
  }

  private async askServed(): Promise<string | undefined> {
    const server = await askAddress(serverOf(this.configuration.agent) ?? 'http://127.0.0.1:8000/v1');
    if (server === undefined) return undefined;
    const model = await this.askModelName(server);
    return model === undefined ? undefined : `openai:${model}@${server}`;
  }

  /** The server's own list where it has one, else the name as it is typed. */
  private async askModelName(server: string): Promise<string | undefined> {
    const listed = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Asking ${server} for its models` },
      async () => listModels(server, await this.keys.forServer(server)),
    );
    if (listed.kind === 'unauthorized') {
      if (!(await this.askKey(server))) return undefined;
      const again = await listModels(server, await this.keys.forServer(server));
      if (again.kind === 'models') return pickModel(again.names);
      return typeModel(`${server} refuses this key. Type the model's name, or press Escape.`);
    }
    if (listed.kind === 'models' && listed.names.length > 0) return pickModel(listed.names);
    const why = listed.kind === 'failed' ? listed.reason : `${server} lists no models.`;
    return typeModel(`${why} The name is used as you type it.`);
  }

  private async askKey(server: string): Promise<boolean> {
    const key = await vscode.window.showInputBox({
      title: 'API key',
      prompt: `The key for ${server}. It is kept in the editor's secret storage. Leave it empty to remove it.`,
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return false;
    try {
      await this.keys.set(server, key.trim());
      return true;
    } catch (error) {
      void vscode.window.showErrorMessage(`The key could not be stored: ${messageOf(error)}`);
      return false;
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

function localChoice({ spec, name, folder, from }: LocalPlace, now: string): Choice {
  const detail =
    from === 'tandem'
      ? 'Ships with Tandem: no server, no key; knows only the tasks of the starter world'
      : vscode.workspace.asRelativePath(folder, false);
  const description = spec === now ? 'plays now' : '';
  return { label: `$(hubot) ${name}`, description, detail, spec: () => spec };
}

async function askAddress(value: string | undefined): Promise<string | undefined> {
  const address = await vscode.window.showInputBox({
    title: 'Server',
    prompt: "The server's base URL; it usually ends in /v1.",
    ...(value === undefined ? {} : { value }),
    ignoreFocusOut: true,
    validateInput: validateAddress,
  });
  return address?.trim().replace(/\/+$/, '');
}

async function pickModel(names: readonly string[]): Promise<string | undefined> {
  return vscode.window.showQuickPick(names, { title: 'Model', placeHolder: 'Which of its models?' });
}

async function typeModel(prompt: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: 'Model',
    prompt,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' ? 'A model has a name, for example gpt-4o or qwen3.' : undefined,
  });
  return name?.trim();
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
