import { expect, test } from 'vitest';
import {
  answerTokens,
  guidedLogits,
  isOpening,
  mayBeginAnswer,
} from '../../../../src/core/model/local/guidance';

// trainer/tests/test_distill.py has the same cases.

test.each(['I', ' I', 'I WANT', 'I WANT TO ANSWER:\n```python', 'OUTPUT:\nI WANT TO ANSWER:'])(
  'an answer may begin with %j',
  (text) => expect(mayBeginAnswer(text)).toBe(true),
);

test.each(['', '\n', 'OUTPUT:', 'What', 'If', 'I would', 'OUTPUT:\nWhat'])(
  'an answer does not begin with %j',
  (text) => expect(mayBeginAnswer(text)).toBe(false),
);

test('a message opens with its output marker', () => {
  expect(['', '\n', 'OUT', 'OUTPUT:', 'OUTPUT:\n'].every(isOpening)).toBe(true);
  expect(['OUTPUT: W', 'What', 'I WANT'].some(isOpening)).toBe(false);
});

const logits = (...probabilities: number[]): Float32Array => Float32Array.from(probabilities, Math.log);
const answers = answerTokens(3, (id) => ['I WANT', 'How', 'What'][id]!);

test('guided logits tilt questions and keep the probability of answering', () => {
  // The weights of the questions are 0.3·(0.1/0.3)² = 1/30 and 0.2·(0.4/0.2)² = 0.8, which share what the answer leaves.
  const guided = guidedLogits(logits(0.5, 0.3, 0.2), logits(0.5, 0.1, 0.4), answers, 2);
  for (const [id, probability] of [0.5, 0.02, 0.48].entries())
    expect(Math.exp(guided[id]!)).toBeCloseTo(probability, 6);
});

test('without guidance the logits stay as they are', () => {
  const plain = logits(0.5, 0.3, 0.2);
  expect(guidedLogits(plain, logits(0.1, 0.1, 0.8), answers, 0)).toEqual(plain);
});

test('a token that is implausible with the hidden information is never raised', () => {
  const guided = guidedLogits(
    logits(0.5 - 5e-9, 0.5 - 5e-9, 1e-8),
    logits(0.5, 0.5 - 1e-4, 1e-4),
    new Uint8Array(3),
    4,
  );
  expect(Math.exp(guided[2]!)).toBeCloseTo(1e-8, 10);
});
