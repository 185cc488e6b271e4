import * as z from 'zod';
import { lazily } from '../lazily';
import { isTooDeep } from '../json';
import { equalityIn } from './python/asserts';
import { factSchema } from './row';
import type { Fact } from './task';

const factsSchema = lazily(() => z.array(factSchema));

/** Input for the two messages that ask a model to draft facts, as chat completion interfaces take them. */
interface FactsRequest {
  /** The function with what it needs, Python source. */
  readonly reference: string;
  /** The request that everyone sees, so that no fact repeats it. */
  readonly request: string;
}

export function factsQuestion({ reference, request }: FactsRequest): readonly FactsMessage[] {
  return [
    {
      role: 'system',
      content:
        'You write down the decisions that are hidden in a Python function, so that somebody who has not read it can be told them one by one. ' +
        'Reply with a JSON array and nothing else. Each element is one decision, an object with three fields: ' +
        '"topic", what it is about in two to four words; "keywords", a list of words and short phrases that a question about it would contain; ' +
        '"answers", a list with one or two sentences in everyday words that tell the decision, with its numbers and without any code. ' +
        'Leave out what the request says already.',
    },
    { role: 'user', content: `The request:\n${request}\n\nThe function:\n${reference}` },
  ];
}

interface FactsMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/**
 * Returns the facts in what a model wrote: the array of JSON in it, whatever stands around that; undefined without one.
 */
export function factsIn(text: string): Fact[] | undefined {
  const [start, end] = [text.indexOf('['), text.lastIndexOf(']')];
  if (start === -1 || end < start) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
  if (isTooDeep(value)) return undefined;
  const facts = factsSchema().safeParse(value).data;
  return facts === undefined || facts.length === 0 ? undefined : facts;
}

/** Makes facts without a model: each test that expects a value is an example that may be told. */
export function factsOfTests(tests: readonly string[], name: string): Fact[] {
  return tests.flatMap((test) => {
    const equality = equalityIn(test, name);
    if (equality === undefined) return [];
    const { call, wanted } = equality;
    const literals = call.match(/"[^"\n]*"|'[^'\n]*'|\d+(?:\.\d+)?/g) ?? [];
    const words = literals
      .map((literal) => literal.replaceAll(/["']/g, ''))
      .filter((word) => word.trim() !== '');
    return {
      topic: call,
      keywords: ['example', 'examples', ...new Set(words)],
      answers: [`For example, ${call} gives ${wanted}.`],
    };
  });
}
