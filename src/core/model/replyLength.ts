/**
 * Maximum number of characters that a model may write for one message, thoughts included. Normal messages have a
 * hundredth of that; a model that repeats itself without end must not fill memory and log.
 */
export const LONGEST_REPLY = 1_000_000;

/** The predicate of an error message, to follow the model's name. */
export const WROTE_TOO_LONG = `has written ${LONGEST_REPLY.toLocaleString('en')} characters of one message and was stopped`;

export const TOO_LONG_REMEDY = 'Ask again, let a turn have fewer tokens, or choose another model';
