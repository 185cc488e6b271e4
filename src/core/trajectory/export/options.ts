import type { Trajectory, Turn } from '../trajectory';
import type { Pairing } from './pairs';
import type { ChatMessageLike } from './rows';
import type { LeftOutReason, Selection } from './selection';

/**
 * The whole conversation as the agent saw it in play, ending in its last message; its own messages raw, thoughts
 * included. The dialogue's prompts make it, so that whoever asks for the export brings it.
 */
export type Render = (trajectory: Trajectory) => readonly ChatMessageLike[];

export type ExportFormat =
  /** `visible`: what the collaborator sees of an agent's turn. With `render` a row holds the conversation, too. */
  | {
      readonly format: 'trajectories';
      readonly visible: (turn: Turn) => string;
      readonly render?: Render;
    }
  | { readonly format: 'chat'; readonly render: Render }
  | { readonly format: 'preferences'; readonly render: Render; readonly pairs?: Pairing }
  /** Single steps: of two candidates for a turn, the one that a person chose against the other. */
  | { readonly format: 'choices'; readonly render: Render };

/** Why a trajectory is left out for a reason of the caller's, which only its whole content tells. */
export type LeaveOut = (trajectory: Trajectory) => LeftOutReason | undefined;

/**
 * What is done about secrets and e-mail addresses: nothing is written when there are any, the dialogues that hold them
 * are left out, or all is written.
 */
export type FindingsPolicy = 'refuse' | 'leave-out' | 'write';

export type ExportOptions = ExportFormat &
  Selection & {
    readonly leaveOut?: LeaveOut;
    /** `refuse` when it is not given. */
    readonly findings?: FindingsPolicy;
    /** The digest of the rows that a person has seen: nothing is written when they are other ones by now. */
    readonly previewed?: string;
    /**
     * The rows are for this machine, e.g. to train on it, and no export: dialogues that people keep local are among
     * them, and nothing is looked for in them.
     */
    readonly staysHere?: boolean;
    readonly signal?: AbortSignal;
    readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  };
