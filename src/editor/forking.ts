import * as vscode from 'vscode';
import type { Parting } from '../core/trajectory/event';
import { idOf } from './contributions';

/** A message of a dialogue, from which another dialogue continues. */
export interface MessageRow {
  readonly kind: 'message';
  readonly episode: string;
  readonly at: Parting;
}

export const continueFrom = (episode: string, at: Parting): Thenable<void> =>
  vscode.commands.executeCommand(idOf('forkTrajectory'), {
    kind: 'message',
    episode,
    at,
  } satisfies MessageRow);
