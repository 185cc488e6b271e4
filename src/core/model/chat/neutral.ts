/**
 * Fields with which servers keep a part of the tokens from being sampled, or change how likely they are, each with the
 * value that switches it off. What is not sent, a server takes from its own defaults: llama.cpp from its command line, vLLM
 * and SGLang from the model's `generation_config.json`.
 */
export const NEUTRAL = {
  top_p: 1,
  // SGLang and older vLLM refuse 0, others refuse negative numbers, see `OTHER_TOP_K`.
  top_k: -1,
  min_p: 0,
  typical_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // vLLM and SGLang call it so, llama.cpp and LM Studio `repeat_penalty`.
  repetition_penalty: 1,
  repeat_penalty: 1,
  mirostat: 0,
  dynatemp_range: 0,
  // llama.cpp applies what is listed, in this order, and nothing else. By default its temperature comes after its top-p.
  samplers: ['temperature', 'top_k', 'top_p'],
} as const;

/** Servers that take no negative number take this for "no top-k". */
export const OTHER_TOP_K = 0;

export type NeutralField = keyof typeof NEUTRAL;

export const NEUTRAL_FIELDS = Object.keys(NEUTRAL) as NeutralField[];
