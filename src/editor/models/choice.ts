import * as vscode from 'vscode';
import { messageOf } from '../../core/fault';
import { serverOf, type ApiKeys } from '../apiKeys';
import type { Configuration } from '../configuration';
import { listModels, validateAddress } from './servers';

type Party = 'agent' | 'simulator';

interface Choice extends vscode.QuickPickItem {
  readonly value: 'server' | 'script' | 'rules' | 'none';
}

const choices: Record<Party, readonly Choice[]> = {
  agent: [
    {
      value: 'server',
      label: '$(server) A model on a server…',
      detail: "Anything that speaks OpenAI's API: OpenAI, vLLM, llama.cpp, Ollama, transformers serve",
    },
    {
      value: 'script',
      label: '$(file-code) A script file…',
      detail: 'Plays canned turns: for tests and demonstrations',
    },
  ],
  simulator: [
    {
      value: 'rules',
      label: '$(list-ordered) Rules',
      detail: "Answers from the task's facts, free and at once",
    },
    {
      value: 'server',
      label: '$(server) A model on a server…',
      detail: 'Sees the hidden reference and answers as a human would',
    },
    {
      value: 'script',
      label: '$(file-code) A script file…',
      detail: 'Plays canned replies: for tests and demonstrations',
    },
    { value: 'none', label: '$(circle-slash) None', detail: 'You answer every question yourself' },
  ],
};

/** Asks which model plays the agent or the simulator, and writes the setting. */
export class Models {
  constructor(
    private readonly configuration: Configuration,
    private readonly keys: ApiKeys,
  ) {}

  async choose(party: Party): Promise<void> {
    const chosen = await vscode.window.showQuickPick(choices[party], {
      title: `Choose the ${party}`,
      placeHolder:
        (party === 'agent' ? this.configuration.agent : this.configuration.simulator) || 'None is chosen yet',
    });
    const model = await this.specOf(chosen?.value);
    if (model !== undefined) await this.configuration.set(party, model);
  }

  /** Asks for the key of a server, by default that of the agent. */
  async setKey(): Promise<void> {
    const server = await askAddress(serverOf(this.configuration.agent));
    if (server !== undefined) await this.askKey(server);
  }

  private async specOf(value: Choice['value'] | undefined): Promise<string | undefined> {
    switch (value) {
      case 'server':
        return this.askServed();
      case 'script':
        return askScript();
      case 'rules':
        return 'rules';
      case 'none':
        return '';
      case undefined:
        return undefined;
    }
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
