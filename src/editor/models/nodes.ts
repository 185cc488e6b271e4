import type { LanguageModelChat } from 'vscode';
import type { ModelUse } from '../../core/trajectory/modelUsage';
import type { OfferedCritic } from '../credit/criticOptions';
import type { ModelStatus } from '../loadedModels';
import type { LocalPlace } from '../localModels';
import type { Role } from '../roles';
import type { Server, ServerState } from '../server';

export type ModelNode =
  | { readonly kind: 'model'; readonly place: LocalPlace; readonly row: ModelRow; readonly use?: ModelUse }
  | { readonly kind: 'server'; readonly server: Server; readonly row: ServedRow; readonly use?: ModelUse }
  | {
      readonly kind: 'editorModel';
      readonly chat: LanguageModelChat;
      readonly row: PlayedRoles;
      readonly use?: ModelUse;
    }
  | CriticsNode
  | CriticNode
  | { readonly kind: 'ranking'; readonly row: RankingRow }
  | { readonly kind: 'problem'; readonly sentence: string }
  | { readonly kind: 'add'; readonly what: 'server' | 'folder' };

export interface CriticsNode {
  readonly kind: 'critics';
  readonly critics: readonly CriticNode[];
}

export interface CriticNode {
  readonly kind: 'critic';
  readonly critic: OfferedCritic;
  /** True when the replays show its credit. */
  readonly isShown: boolean;
}

/** The leaderboard, a group of its models, or one of its figures. */
export interface RankingRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  readonly below?: readonly RankingRow[];
}

export interface PlayedRoles {
  readonly roles: readonly Role[];
}

export interface ModelRow extends ModelStatus, PlayedRoles {}

export interface ServedRow extends PlayedRoles {
  readonly state: ServerState;
}
