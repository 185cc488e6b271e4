import type { Role } from '../searchTree';
import type { Trajectory, Turn } from '../trajectory';
import type { JUDGED } from './judgements';
import type { Pairing } from './pairs';
import type { ChatMessageLike } from './rows';
import type { LeftOutReason, Selection } from './selection';

/**
 * The whole conversation as the agent saw it during play, up to its last message; its own messages are raw, thoughts
 * included. For the formats `replies` and `edits`: for each reply, what a simulator would read, and the reply. For the
 * format of a role: what the role read, and its first output. Callers provide this function, because it needs the
 * dialogue's prompts.
 */
export type Render = (trajectory: Trajectory) => readonly ChatMessageLike[];

export type ExportFormat =
  /** `visible` returns the text that the collaborator sees. With `render`, rows also contain the conversation. */
  | {
      readonly format: 'trajectories';
      readonly visible: (turn: Turn) => string;
      readonly render?: Render;
    }
  | { readonly format: 'preferences'; readonly render: Render; readonly pairs?: Pairing }
  | { readonly format: 'chat' | 'llamafactory-sft' | 'axolotl-sft' | 'inspect'; readonly render: Render }
  | { readonly format: keyof typeof JUDGED; readonly render: Render }
  | { readonly format: Role; readonly render: Render };

/** The caller's reason to leave a trajectory out; undefined to keep it. */
export type LeaveOut = (trajectory: Trajectory) => LeftOutReason | undefined;

/**
 * If there are secrets or e-mail addresses: write nothing, leave out the dialogues that contain them, or write
 * everything.
 */
export type FindingsPolicy = 'refuse' | 'leave-out' | 'write';

export type ExportOptions = ExportFormat &
  Selection & {
    readonly leaveOut?: LeaveOut;
    /** True if the agent saw other instructions than those that `render` writes; such trajectories are counted. */
    readonly sawAnotherPrompt?: (trajectory: Trajectory) => boolean;
    readonly findings?: FindingsPolicy;
    /** Digest of the rows that a person has previewed; if they have changed, nothing is written. */
    readonly previewed?: string;
    /**
     * True if the rows stay on this machine, e.g. for training: then dialogues that people keep local are included, and
     * the rows are not scanned for secrets.
     */
    readonly staysHere?: boolean;
    /** True if dialogues without a grade are taken where the format would need one. */
    readonly withUngraded?: boolean;
    readonly signal?: AbortSignal;
    readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  };
