import * as vscode from 'vscode';
import type { Trial } from '../../../core/model/connection';
import { originOf } from '../../../core/model/address';
import {
  type ApiKeys,
  specOf,
  validateAddress,
  withoutSlash,
  type Server,
  type Servers,
} from '../../servers';
import { askText, runSteps, type Given, type Head, type Step } from '../../inputSteps';
import type { Role } from '../../roles';
import { askPrice, askSampling, review, type ReviewAction, type Keep } from './review';
import { foundAddresses, knownAddresses, mendingOffer, type Offer, pickOrType } from './offers';

const { t } = vscode.l10n;

interface Draft {
  server: Server;
  /** The edited connection as it was. */
  readonly instead?: Server;
  /** Undefined keeps the stored one, if any; empty means none. */
  key: string | undefined;
  trial: Trial | undefined;
  /** Models of the server, where it was found on this machine. */
  found: readonly string[];
  /** True after a change that only a test can judge. */
  needsTest: boolean;
  as?: Role;
}

const ADD = t('Connect a Model');
const CONNECT_FOR: Record<Role, Keep> = {
  agent: { label: t('Connect and Use as Agent'), as: 'agent' },
  secondAgent: { label: t('Connect and Use as Second Agent'), as: 'secondAgent' },
  simulator: { label: t('Connect and Use as Simulator'), as: 'simulator' },
};
const CONNECT: readonly Keep[] = [CONNECT_FOR.agent, CONNECT_FOR.simulator, { label: t('Connect Only') }];
const SAVE: readonly Keep[] = [{ label: t('Save') }];

/** Asks for address, key and model, and shows a review. */
export class Connect {
  constructor(
    private readonly servers: Servers,
    private readonly keys: ApiKeys,
  ) {}

  /** @param role when it is settled */
  async add(role?: Role): Promise<{ readonly server: Server; readonly as?: Role } | undefined> {
    const draft: Draft = {
      server: { name: '', baseUrl: '', model: '' },
      ...{ key: undefined, trial: undefined, found: [], needsTest: true },
    };
    const address: Step = (head) => this.askAddress(draft, { title: ADD, ...head });
    const key: Step = (head) => this.askKey(draft, { title: ADD, ...head });
    const model: Step = (head) => this.askModel(draft, { title: ADD, ...head });
    const last: Step = (head) =>
      this.review(draft, { title: ADD, ...head }, role === undefined ? CONNECT : [CONNECT_FOR[role]]);
    const asked = (): readonly Step[] =>
      draft.found.length === 0 ? [key, model] : draft.found.length === 1 ? [] : [model];
    if (!(await runSteps(() => [address, ...asked(), last]))) return undefined;
    return { server: await this.keep(draft), as: draft.as };
  }

  /** A failing connection is tested at once, so that the reason stands beside the parts. */
  async edit(server: Server): Promise<Server | undefined> {
    const draft: Draft = {
      ...{ server, instead: server },
      ...{ key: undefined, trial: undefined, found: [], needsTest: false },
    };
    const isFailing = this.servers.state(server).kind === 'fails';
    const given = await this.review(draft, { title: t('Edit {0}', server.name) }, SAVE, isFailing);
    return typeof given === 'string' ? undefined : this.keep(draft);
  }

  private async keep({ server, instead, key, trial }: Draft): Promise<Server> {
    if (key !== undefined) await this.servers.setKey(server.baseUrl, key);
    await this.servers.save(server, instead);
    if (trial !== undefined) this.servers.tested(server, trial);
    return server;
  }

  private async askAddress(draft: Draft, head: Head): Promise<Given<unknown>> {
    const items = knownAddresses(this.servers.all);
    const given = await pickOrType({
      ...head,
      placeholder: t('Address of the server: pick one or type its base URL, which usually ends in /v1'),
      value: draft.server.baseUrl,
      items,
      later: foundAddresses(items).then((found) => ({ items: found })),
      validate: (text) => validateAddress(text, t),
    });
    if (typeof given === 'string') return given;
    const baseUrl = withoutSlash(given.value.text);
    // Never show the key of one server to another.
    if (originOf(baseUrl) !== originOf(draft.server.baseUrl)) draft.key = undefined;
    draft.found = given.value.models ?? [];
    const [model, ...more] = draft.found;
    const isOnly = model !== undefined && more.length === 0;
    change(draft, { baseUrl, ...(isOnly && modelFields(draft, model)) });
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
    change(draft, {});
    return given;
  }

  /** A typed name where the server has no list. A wrong address or key can be corrected here. */
  private async askModel(draft: Draft, head: Head): Promise<Given<unknown>> {
    for (;;) {
      const { baseUrl, model } = draft.server;
      const given = await pickOrType({
        ...head,
        placeholder: t('Asking {0} for its models; you can type a name meanwhile', baseUrl),
        items: offersOf([], model),
        later: this.listed(draft),
      });
      if (typeof given === 'string') return given;
      const { text, mends } = given.value;
      if (mends === undefined) {
        change(draft, modelFields(draft, text));
        return given;
      }
      const mended = await (mends === 'key' ? this.askKey(draft, head) : this.askAddress(draft, head));
      if (mended === 'cancelled' || draft.found.length === 1) return mended;
    }
  }

  private async listed(draft: Draft): Promise<{ items: readonly Offer[]; placeholder: string }> {
    const { listModels } = await import('../../../core/model/connection');
    const { baseUrl, model } = draft.server;
    const list = await listModels({ baseUrl, key: await this.keyOf(draft) });
    if (!list.listed) {
      const mending = mendingOffer(list);
      return mending === undefined
        ? { items: offersOf([], model), placeholder: t('{0} Type the name of the model.', list.what) }
        : { items: [mending], placeholder: t('Type the name of the model') };
    }
    const { length } = list.names;
    return {
      items: offersOf(list.names, model),
      placeholder:
        length === 0
          ? t('Type the name of the model')
          : length === 1
            ? t('Its only model; you can type another name')
            : t('Which of its {0} models?', length),
    };
  }

  private async review(
    draft: Draft,
    head: Head,
    keeps: readonly Keep[],
    testsAtOnce = false,
  ): Promise<Given<unknown>> {
    for (let isFirst = true; ; isFirst = false) {
      const given = await review({
        ...head,
        server: draft.server,
        hasKey: (await this.keyOf(draft)) !== undefined,
        keeps,
        trial: draft.trial,
        needsTest: draft.needsTest,
        testsAtOnce: testsAtOnce && isFirst,
        test: (signal) => this.test(draft, signal),
      });
      if (typeof given === 'string') return given;
      if (await this.isKept(draft, given.value, { title: head.title })) return given;
    }
  }

  /** @returns true when the connection is to be kept */
  private async isKept(draft: Draft, what: ReviewAction, head: Head): Promise<boolean> {
    if (typeof what === 'object') {
      const same = this.anotherLike(draft);
      if (same !== undefined) {
        void vscode.window.showErrorMessage(
          t(
            'The connection {0} has this address and this model already. Choose another address or model, or remove that connection first.',
            same.name,
          ),
        );
        return false;
      }
      draft.as = what.as;
      return true;
    }
    await this.change(draft, what, head);
    return false;
  }

  /** The connection that the edit would duplicate; a new connection replaces it instead. */
  private anotherLike({ server, instead }: Draft): Server | undefined {
    const spec = specOf(server);
    return instead === undefined || spec === specOf(instead) ? undefined : this.servers.find(spec);
  }

  private async change(draft: Draft, what: Exclude<ReviewAction, Keep>, head: Head): Promise<void> {
    switch (what) {
      case 'name': {
        const given = await this.askName(draft, head);
        if (typeof given !== 'string') draft.server = { ...draft.server, name: given.value };
        return;
      }
      case 'baseUrl':
        if (typeof (await this.askAddress(draft, head)) === 'string') return;
        if (draft.found.length > 1 && !draft.found.includes(draft.server.model))
          await this.askModel(draft, head);
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

/** The chosen model comes first. */
function offersOf(names: readonly string[], chosen: string): Offer[] {
  const others = names.filter((name) => name !== chosen).map((text) => ({ text }));
  return chosen === '' ? others : [{ text: chosen, description: t('chosen') }, ...others];
}

/** The connection takes the model's name while it has no other. */
function modelFields({ server: { name, model } }: Draft, next: string): Partial<Server> {
  return { model: next, ...(name === '' || name === model ? { name: next } : {}) };
}

/** Drops the trial, which was of the old settings. */
function change(draft: Draft, fields: Partial<Server>): void {
  draft.server = { ...draft.server, ...fields };
  draft.trial = undefined;
  draft.needsTest = true;
}
