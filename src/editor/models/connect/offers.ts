import * as vscode from 'vscode';
import type { ConnectionProblem, Diagnosis } from '../../../core/model/connection';
import type { FoundServer } from '../../../core/model/discovery';
import { isLoopback } from '../../../core/serving/access';
import type { Server } from '../server';
import type { OfferedText } from './pickOrType';

const { t } = vscode.l10n;

type ConnectionPart = 'baseUrl' | 'key' | 'model';

/** `model` is set where a server was found. */
export interface AddressOffer extends OfferedText {
  readonly model?: string;
}

/** A model, or the part to correct before there is a list. */
export interface ModelOffer extends OfferedText {
  readonly mends?: Exclude<ConnectionPart, 'model'>;
}

/** Default addresses of servers. */
const USUAL: readonly AddressOffer[] = [
  { text: 'http://127.0.0.1:11434/v1', description: 'Ollama' },
  { text: 'http://127.0.0.1:8000/v1', description: 'vLLM, transformers serve' },
  { text: 'http://127.0.0.1:8080/v1', description: 'llama.cpp' },
  { text: 'http://127.0.0.1:1234/v1', description: 'LM Studio' },
  { text: 'http://127.0.0.1:30000/v1', description: 'SGLang' },
  { text: 'https://api.openai.com/v1', description: 'OpenAI' },
];

export function knownAddresses(connected: readonly Server[]): AddressOffer[] {
  const known = connected.map(({ baseUrl, name }) => ({ text: baseUrl, description: t('as {0}', name) }));
  return [...new Map([...USUAL, ...known].map((offer) => [offer.text, offer])).values()];
}

/** Models of servers on this machine come before the remaining addresses. */
export async function foundAddresses(known: readonly AddressOffer[]): Promise<AddressOffer[]> {
  const { findServers } = await import('../../../core/model/discovery');
  const here = known.map(({ text }) => text).filter(isHere);
  const servers = await findServers(here);
  const found = [
    ...servers.filter(({ models }) => models.length > 0),
    ...servers.filter(({ wantsKey }) => wantsKey),
  ];
  const group = t('Found on this machine');
  const others = known.filter(({ text }) => !found.some(({ baseUrl }) => baseUrl === text));
  return [
    ...found.flatMap(modelsOf).map((offer) => ({ ...offer, group })),
    ...others.map((offer) => (found.length === 0 ? offer : { ...offer, group: t('Addresses') })),
  ];
}

function modelsOf({ baseUrl, program, models, wantsKey }: FoundServer): AddressOffer[] {
  if (wantsKey) return [{ text: baseUrl, description: t('asks for a key') }];
  const description = program === undefined ? baseUrl : t('{0} at {1}', program, baseUrl);
  return models.map((model) => ({ text: baseUrl, label: model, description, model }));
}

function isHere(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return isLoopback(host.replace(/^\[|\]$/g, ''));
}

/** Undefined where no part is to blame. */
export function mendingOffer({ problem, what }: Diagnosis): ModelOffer | undefined {
  const part = blamed(problem);
  if (part === 'key')
    return {
      ...{ text: '', mends: part, alwaysShow: true, detail: what },
      label: `$(key) ${problem === 'no-key' ? t('Enter the key') : t('Enter another key')}`,
    };
  if (part === 'baseUrl')
    return {
      ...{ text: '', mends: part, alwaysShow: true, detail: what },
      label: `$(edit) ${t('Correct the address')}`,
    };
  return undefined;
}

/** The most likely cause; undefined where no part is. */
export function blamed(problem: ConnectionProblem): ConnectionPart | undefined {
  switch (problem) {
    case 'bad-address':
    case 'refused':
    case 'unknown-host':
    case 'unreachable':
    case 'no-tls':
    case 'not-openai':
      return 'baseUrl';
    case 'no-key':
    case 'wrong-key':
    case 'not-allowed':
    case 'no-credit':
      return 'key';
    case 'unknown-model':
    case 'refused-request':
      return 'model';
    case 'certificate':
    case 'closed':
    case 'timed-out':
    case 'rate-limited':
    case 'server-error':
      return undefined;
  }
}
