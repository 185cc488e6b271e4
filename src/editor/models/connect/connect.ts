import * as vscode from 'vscode';
import type { Trial } from '../../../core/model/connection';
import { originOf } from '../../../core/model/address';
import type { ApiKeys } from '../../apiKeys';
import { askText, runSteps, type Given, type Head, type Step } from '../../steps';
import type { Role } from '../roles';
import { specOf, validateAddress, withoutSlash, type Server } from '../server';
import type { Servers } from '../servers';
import { askPrice, askSampling } from './numbers';
import { pickOrType, type OfferedText } from './pickOrType';
import { review, type ReviewAction, type Keep } from './review';

const { t } = vscode.l10n;

/** The person's input so far. */
interface Draft {
  server: Server;
  /** API key; undefined keeps the stored one, if any, and an empty one means none. */
  key: string | undefined;
  trial: Trial | undefined;
  as?: Role;
}

/** Addresses where servers usually listen. */
const USUAL: readonly OfferedText[] = [
  { text: 'http://127.0.0.1:11434/v1', description: 'Ollama' },
  { text: 'http://127.0.0.1:8000/v1', description: 'vLLM, transformers serve' },
  { text: 'http://127.0.0.1:8080/v1', description: 'llama.cpp' },
  { text: 'http://127.0.0.1:1234/v1', description: 'LM Studio' },
  { text: 'https://api.openai.com/v1', description: 'OpenAI' },
];

const ADD = t('Connect a Model');
const CONNECT_FOR: Record<Role, readonly Keep[]> = {
  agent: [{ label: t('Connect and Use as Agent'), does: 'keep as agent' }],
  secondAgent: [{ label: t('Connect and Use as Second Agent'), does: 'keep as second agent' }],
  simulator: [{ label: t('Connect and Use as Simulator'), does: 'keep as simulator' }],
};
const CONNECT: readonly Keep[] = [
  ...CONNECT_FOR.agent,
  ...CONNECT_FOR.simulator,
  { label: t('Connect Only'), does: 'keep' },
];
const SAVE: readonly Keep[] = [{ label: t('Save'), does: 'keep' }];
const ROLES: Record<Keep['does'], Role | undefined> = {
  keep: undefined,
  'keep as agent': 'agent',
  'keep as second agent': 'secondAgent',
  'keep as simulator': 'simulator',
};

const isKeeping = (what: ReviewAction): what is Keep['does'] => what in ROLES;

/** Connects a model behind a server step by step: address, key, model, and a review. */
export class Connect {
  constructor(
    private readonly servers: Servers,
    private readonly keys: ApiKeys,
  ) {}

  /**
   * Returns the new connection and its role; undefined when the person cancelled.
   * @param role its role, when that is settled
   */
  async add(role?: Role): Promise<{ readonly server: Server; readonly as?: Role } | undefined> {
    const draft: Draft = {
      server: { name: '', baseUrl: '', model: '' },
      key: undefined,
      trial: undefined,
    };
    const steps: Step[] = [
      (head) => this.askAddress(draft, { title: ADD, ...head }),
      (head) => this.askKey(draft, { title: ADD, ...head }),
      (head) => this.askModel(draft, { title: ADD, ...head }),
      (head) => this.review(draft, { title: ADD, ...head }, role === undefined ? CONNECT : CONNECT_FOR[role]),
    ];
    if (!(await runSteps(steps))) return undefined;
    return { server: await this.keep(draft), as: draft.as };
  }

  /** Returns the edited connection; undefined when the person cancelled. */
  async edit(server: Server): Promise<Server | undefined> {
    const draft: Draft = { server, key: undefined, trial: undefined };
    const given = await this.review(draft, { title: t('Edit {0}', server.name) }, SAVE);
    return typeof given === 'string' ? undefined : this.keep(draft, server);
  }

  private async keep({ server, key, trial }: Draft, instead?: Server): Promise<Server> {
    if (key !== undefined) await this.servers.setKey(server.baseUrl, key);
    await this.servers.save(server, instead);
    if (trial !== undefined) this.servers.tested(server, trial);
    return server;
  }

  private async askAddress(draft: Draft, head: Head): Promise<Given<string>> {
    const known = this.servers.all.map(({ baseUrl, name }) => ({
      text: baseUrl,
      description: t('as {0}', name),
    }));
    const items = [...new Map([...USUAL, ...known].map((offer) => [offer.text, offer])).values()];
    const given = await pickOrType({
      ...head,
      placeholder: t('Address of the server: pick one or type its base URL, which usually ends in /v1'),
      value: draft.server.baseUrl,
      offers: Promise.resolve({ items }),
      validate: (text) => validateAddress(text, t),
    });
    if (typeof given === 'string') return given;
    const baseUrl = withoutSlash(given.value);
    // A key that was typed for one server is not shown to another.
    if (originOf(baseUrl) !== originOf(draft.server.baseUrl)) draft.key = undefined;
    change(draft, { baseUrl });
    return given;
  }

  private async askKey(draft: Draft, head: Head): Promise<Given<string>> {
    const { baseUrl } = draft.server;
    const hasKey = (await this.keys.forServer(baseUrl)) !== undefined;
    const empty = hasKey
      ? t('Leave it empty to keep the one that is there.')
      : t('Leave it empty if the server needs none.');
    const given = await askText({
      ...head,
      prompt: t(
        'The key for {0}. It is kept in the editor’s secret storage and nowhere else. {1}',
        originOf(baseUrl) ?? baseUrl,
        empty,
      ),
      placeholder: t('API key'),
      value: draft.key ?? '',
      password: true,
    });
    if (typeof given === 'string') return given;
    draft.key = given.value === '' ? undefined : given.value;
    draft.trial = undefined;
    return given;
  }

  /** Asks for the model, from the server's own list where it has one, else as a typed name. */
  private async askModel(draft: Draft, head: Head): Promise<Given<string>> {
    const given = await pickOrType({
      ...head,
      placeholder: t('Asking {0} for its models; you can type a name meanwhile', draft.server.baseUrl),
      value: draft.server.model,
      offers: this.listed(draft),
    });
    if (typeof given === 'string') return given;
    const { name, model } = draft.server;
    change(draft, { model: given.value, ...(name === '' || name === model ? { name: given.value } : {}) });
    return given;
  }

  private async listed(draft: Draft): Promise<{ items: readonly OfferedText[]; placeholder: string }> {
    const { listModels } = await import('../../../core/model/connection');
    const { baseUrl } = draft.server;
    const list = await listModels({ baseUrl, key: await this.keyOf(draft) });
    if (!list.listed) return { items: [], placeholder: t('{0} Type the name of the model.', list.what) };
    const items = list.names.map((text) => ({ text }));
    return {
      items,
      placeholder: items.length === 0 ? t('Type the name of the model') : t('Which of its models?'),
    };
  }

  /** Shows the connection until the person keeps it or leaves. */
  private async review(draft: Draft, head: Head, keeps: readonly Keep[]): Promise<Given<unknown>> {
    for (;;) {
      const given = await review({
        ...head,
        server: draft.server,
        hasKey: (await this.keyOf(draft)) !== undefined,
        keeps,
        trial: draft.trial,
        test: (signal) => this.test(draft, signal),
      });
      if (typeof given === 'string') return given;
      if (await this.isKept(draft, given.value, { title: head.title })) return given;
    }
  }

  /** Does what was chosen; returns true when the connection is to be kept. */
  private async isKept(draft: Draft, what: ReviewAction, head: Head): Promise<boolean> {
    if (isKeeping(what)) {
      draft.as = ROLES[what];
      return true;
    }
    await this.change(draft, what, head);
    return false;
  }

  private async change(draft: Draft, what: Exclude<ReviewAction, Keep['does']>, head: Head): Promise<void> {
    switch (what) {
      case 'name': {
        const given = await this.askName(draft, head);
        if (typeof given !== 'string') draft.server = { ...draft.server, name: given.value };
        return;
      }
      case 'baseUrl':
        await this.askAddress(draft, head);
        return;
      case 'key':
        await this.askKey(draft, head);
        return;
      case 'model':
        await this.askModel(draft, head);
        return;
      case 'sampling':
        change(draft, (await askSampling(draft.server.sampling)) ?? {});
        return;
      case 'price':
        draft.server = { ...draft.server, ...(await askPrice(draft.server.price)) };
        return;
    }
  }

  private askName(draft: Draft, head: Head): Promise<Given<string>> {
    const spec = specOf(draft.server);
    return askText({
      ...head,
      prompt: t('Its name in the Models view'),
      value: draft.server.name,
      validate: (text) => {
        if (text.trim() === '') return t('A connection has a name, for example that of its model.');
        const taken = this.servers.all.some((one) => one.name === text.trim() && specOf(one) !== spec);
        return taken ? t('Another connection is called {0}.', text.trim()) : undefined;
      },
    });
  }

  private async test(draft: Draft, signal: AbortSignal): Promise<Trial> {
    const { tryModel } = await import('../../../core/model/connection');
    draft.trial = await tryModel({ ...draft.server, key: await this.keyOf(draft) }, { signal });
    return draft.trial;
  }

  private async keyOf({ key, server }: Draft): Promise<string | undefined> {
    return key ?? (await this.keys.forServer(server.baseUrl));
  }
}

/** Changes settings of the server and drops the trial, which was of the old ones. */
function change(draft: Draft, fields: Partial<Server>): void {
  draft.server = { ...draft.server, ...fields };
  draft.trial = undefined;
}
