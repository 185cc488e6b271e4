import type { LanguageModelChat } from 'vscode';
import type { ModelUse } from '../../core/trajectory/use';
import type { OfferedCritic } from '../credit/offered';
import type { LocalPlace } from './places';
import type { Role } from './roles';
import type { Server, ServerState } from './server';
import type { ModelRow } from './words';

/** What a row of the Models view stands for. */
export type ModelNode =
  | { readonly kind: 'model'; readonly place: LocalPlace; readonly row: ModelRow; readonly use?: ModelUse }
  | { readonly kind: 'server'; readonly server: Server; readonly row: ServedRow; readonly use?: ModelUse }
  | {
      readonly kind: 'editorModel';
      readonly chat: LanguageModelChat;
      readonly row: Played;
      readonly use?: ModelUse;
    }
  | CriticsNode
  | CriticNode
  | { readonly kind: 'problem'; readonly sentence: string }
  | { readonly kind: 'add'; readonly what: 'server' | 'folder' };

/** The critics, which do not play but say how good a turn was. */
export interface CriticsNode {
  readonly kind: 'critics';
  readonly critics: readonly CriticNode[];
}

export interface CriticNode {
  readonly kind: 'critic';
  readonly critic: OfferedCritic;
  /** The replays show what it says. */
  readonly isShown: boolean;
}

/** Who plays what now. */
export interface Played {
  readonly roles: readonly Role[];
}

export interface ServedRow extends Played {
  readonly state: ServerState;
}
