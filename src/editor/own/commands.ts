import { Uri } from 'vscode';
import { commands } from '../contributions';
import type { Engines } from '../engines';
import type { Packs } from '../tasks/packs';
import type { Collaborations } from './collaborations';
import type { OwnTests } from './ownTests';
import type { Proposals } from './proposals';

export interface OwnCommandContext {
  readonly engines: Engines;
  readonly packs: Packs;
  readonly proposals: Proposals;
  readonly ownTests: OwnTests;
  readonly collaborations: Collaborations;
}

/** What a menu passes: the document of a title's button, or what a button of the chat holds. */
type Run = (target: unknown) => Promise<unknown>;

/** What is done with a person's own code. */
export function ownCommands({ engines, packs, proposals, ownTests, collaborations }: OwnCommandContext) {
  return {
    [commands.collaborateOnFunction]: () => collaborations.start(),
    [commands.makeTask]: async () => (await import('./makeTask')).makeTask(engines, packs),
    [commands.acceptAnswer]: (target) => proposals.accept(documentOf(target)),
    [commands.acceptAnswerAnyway]: (target) => proposals.accept(documentOf(target)),
    [commands.rejectAnswer]: (target) => proposals.reject(documentOf(target)),
    [commands.testProposal]: (target) => proposals.test(documentOf(target)),
    [commands.runTests]: () => ownTests.runPointedAt(),
    [commands.reviewAnswer]: (target) => collaborations.review(target),
    [commands.testAnswer]: async (target) => (await import('./testing')).testAnswer(engines.first, target),
  } satisfies Record<string, Run>;
}

const documentOf = (target: unknown): Uri | undefined => (target instanceof Uri ? target : undefined);
