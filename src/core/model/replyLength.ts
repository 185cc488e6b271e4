/**
 * Most characters of what a model writes for one message, thoughts included. Honest ones have a hundredth of it; one that
 * goes round in circles, and is stopped by nothing else, must not fill memory and log.
 */
export const LONGEST_REPLY = 1_000_000;

/** What happened, behind who wrote it. */
export const WROTE_TOO_LONG = `has written ${LONGEST_REPLY.toLocaleString('en')} characters of one message and was stopped`;

export const TOO_LONG_REMEDY = 'Ask again, let a turn have fewer tokens, or choose another model';
