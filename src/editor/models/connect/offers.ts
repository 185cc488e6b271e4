import * as vscode from 'vscode';
import type { ConnectionProblem, Diagnosis, FoundServer } from '../../../core/model/connection';
import { isLoopback } from '../../../core/serving/listener';
import { shown, type Given, type Head } from '../../inputSteps';
import type { Server } from '../../servers';

const { t } = vscode.l10n;

type ConnectionPart = 'baseUrl' | 'key' | 'model';

/** An address of a server, a model, or the part to correct before there is a list of models. */
export interface Offer {
  readonly text: string;
  /** Shown in place of the text. */
  readonly label?: string;
  readonly description?: string;
  readonly detail?: string;
  /** Heading above adjacent offers of the group. */
  readonly group?: string;
  /** Not filtered by the typed text. */
  readonly alwaysShow?: boolean;
  /** The models of a server that was found, which needs no key. */
  readonly models?: readonly string[];
  readonly mends?: Exclude<ConnectionPart, 'model'>;
}

/** Default addresses of servers. */
const USUAL: readonly Offer[] = [
  { text: 'http://127.0.0.1:11434/v1', description: 'Ollama' },
  { text: 'http://127.0.0.1:8000/v1', description: 'vLLM, transformers serve' },
  { text: 'http://127.0.0.1:8080/v1', description: 'llama.cpp' },
  { text: 'http://127.0.0.1:1234/v1', description: 'LM Studio' },
  { text: 'http://127.0.0.1:30000/v1', description: 'SGLang' },
  { text: 'https://api.openai.com/v1', description: 'OpenAI' },
];

export function knownAddresses(connected: readonly Server[]): Offer[] {
  const known = connected.map(({ baseUrl, name }) => ({ text: baseUrl, description: t('as {0}', name) }));
  return [...new Map([...USUAL, ...known].map((offer) => [offer.text, offer])).values()];
}

/** Servers on this machine come before the remaining addresses. */
export async function foundAddresses(known: readonly Offer[]): Promise<Offer[]> {
  const { findServers } = await import('../../../core/model/connection');
  const here = known.map(({ text }) => text).filter(isHere);
  const servers = await findServers(here);
  const found = [
    ...servers.filter(({ models }) => models.length > 0),
    ...servers.filter(({ wantsKey }) => wantsKey),
  ];
  const group = t('Found on this machine');
  const others = known.filter(({ text }) => !found.some(({ baseUrl }) => baseUrl === text));
  return [
    ...found.map((server) => ({ ...foundOffer(server), group })),
    ...others.map((offer) => (found.length === 0 ? offer : { ...offer, group: t('Addresses') })),
  ];
}

/** A server with a single model is named by it. */
function foundOffer({ baseUrl, program, models, wantsKey }: FoundServer): Offer {
  if (wantsKey) return { text: baseUrl, description: t('asks for a key') };
  const [model, ...more] = models;
  if (more.length === 0) {
    const description = program === undefined ? baseUrl : t('{0} at {1}', program, baseUrl);
    return { text: baseUrl, label: model, description, models };
  }
  const count = t('{0} models', models.length);
  return { text: baseUrl, description: program === undefined ? count : `${program} · ${count}`, models };
}

function isHere(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return isLoopback(host.replace(/^\[|\]$/g, ''));
}

/** Undefined where no part is to blame. */
export function mendingOffer({ problem, what }: Diagnosis): Offer | undefined {
  const mends = blamed(problem);
  if (mends === undefined || mends === 'model') return undefined;
  const key = problem === 'no-key' ? t('Enter the key') : t('Enter another key');
  const label = mends === 'key' ? `$(key) ${key}` : `$(edit) ${t('Correct the address')}`;
  return { text: '', label, detail: what, alwaysShow: true, mends };
}

const causes: Readonly<Partial<Record<ConnectionProblem, ConnectionPart>>> = {
  'bad-address': 'baseUrl',
  refused: 'baseUrl',
  'unknown-host': 'baseUrl',
  unreachable: 'baseUrl',
  'no-tls': 'baseUrl',
  'not-openai': 'baseUrl',
  'no-key': 'key',
  'wrong-key': 'key',
  'not-allowed': 'key',
  'no-credit': 'key',
  'unknown-model': 'model',
  'refused-request': 'model',
};

/** The most likely cause; undefined where no part is. */
export const blamed = (problem: ConnectionProblem): ConnectionPart | undefined => causes[problem];

interface PickOrTypeStep extends Head {
  readonly placeholder: string;
  readonly value?: string;
  readonly items?: readonly Offer[];
  /** They replace `items`, with another placeholder. */
  readonly later: Promise<{ readonly items: readonly Offer[]; readonly placeholder?: string }>;
  /** Returns a sentence when the text is invalid. */
  readonly validate?: (text: string) => string | undefined;
}

type OfferItem = vscode.QuickPickItem & { readonly offer?: Offer };

/** Accepts any other text that is typed. */
export function pickOrType(step: PickOrTypeStep): Promise<Given<Offer>> {
  const pick = vscode.window.createQuickPick<OfferItem>();
  const { title, step: number, totalSteps, placeholder, value = '' } = step;
  Object.assign(pick, { title, step: number, totalSteps, placeholder, value, busy: true });
  let offers = step.items ?? [];
  const show = (): void => {
    const listed = grouped(offers);
    const typed = pick.value.trim();
    if (typed === '' || offers.some(({ text }) => text === typed)) {
      pick.items = listed;
      return;
    }
    const problem = step.validate?.(typed);
    const item = typedItem(typed, problem);
    // An invalid text may be the beginning of an offered one.
    pick.items = problem === undefined ? [item, ...listed] : [...listed, item];
  };
  pick.matchOnDescription = true;
  show();
  return shown(pick, (give, fail) => {
    step.later.then((later) => {
      offers = later.items;
      pick.placeholder = later.placeholder ?? placeholder;
      pick.busy = false;
      show();
    }, fail);
    return [
      pick.onDidChangeValue(show),
      pick.onDidAccept(() => {
        const offer = pick.activeItems[0]?.offer;
        if (offer !== undefined) give(offer);
      }),
    ];
  });
}

function grouped(offers: readonly Offer[]): OfferItem[] {
  return offers.flatMap((offer, index) => {
    const { text, label = text, description, detail, alwaysShow, group } = offer;
    const begins = group !== undefined && group !== offers[index - 1]?.group;
    return [
      ...(begins ? [{ label: group, kind: vscode.QuickPickItemKind.Separator }] : []),
      { label, description, detail, alwaysShow, offer },
    ];
  });
}

function typedItem(text: string, problem: string | undefined): OfferItem {
  return problem === undefined
    ? { label: `$(edit) ${t('Use “{0}”', text)}`, offer: { text }, alwaysShow: true }
    : { label: `$(error) ${t('“{0}” cannot be used', text)}`, detail: problem, alwaysShow: true };
}
