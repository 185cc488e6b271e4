import type { SessionState, TurnView } from '../../../../webview/session/protocol';

/** A session in which the developer is to reply to the first message. */
export const state: SessionState = {
  ...{ phase: 'developer', seat: 'developer', turn: 1, maxTurns: 10, replyLimit: 400 },
  ...{ agent: 'starter', simulator: 'rules', called: {}, rating: {} },
  ...{ hasNext: true, hasGuidelines: false, showsCounters: true },
};
export const turn: TurnView = {
  ...{ turn: 1, visible: 'How?', thoughts: '', final: false, samples: 1, milliseconds: 0 },
};
