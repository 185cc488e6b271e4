import { describe, expect, it } from 'vitest';
import type { SamplingSettings } from '../../../../src/core/model/model';
import { Sampler } from '../../../../src/core/model/local/sampling';
import { TurnText } from '../../../../src/core/model/local/turnText';

/** A tokenizer whose tokens are bytes. */
const decode = (ids: readonly number[]): string => Buffer.from(ids).toString('utf8');

function speak(text: string, stop: readonly string[] = []): { pieces: string[]; text: string } {
  const turn = new TurnText(decode, stop);
  const pieces: string[] = [];
  for (const byte of Buffer.from(text)) {
    if (turn.stopped) break;
    pieces.push(turn.push(byte));
  }
  const end = turn.end();
  return { pieces: [...pieces, end.rest].filter((piece) => piece !== ''), text: end.text };
}

describe('the text of a turn', () => {
  it('is told character by character, never half of one', () => {
    expect(speak('größe 🙂').pieces).toEqual(['g', 'r', 'ö', 'ß', 'e', ' ', '🙂']);
  });

  it('ends before a stop string, of which nothing is told', () => {
    expect(speak('one STOP two', ['STOP'])).toEqual({ pieces: ['o', 'n', 'e', ' '], text: 'one ' });
  });

  it('is told late where it looks like a stop string and is none', () => {
    expect(speak('a ST.', ['STOP']).pieces).toEqual(['a', ' ', 'ST.']);
    expect(speak('a ST', ['STOP'])).toEqual({ pieces: ['a', ' ', 'ST'], text: 'a ST' });
  });

  it('keeps what can never become a character, at its end', () => {
    const turn = new TurnText(decode, []);
    turn.push(0x61);
    expect(turn.push(0xf0)).toBe('');
    expect(turn.end()).toEqual({ text: 'a\ufffd', rest: '\ufffd' });
  });
});

describe('a long turn', () => {
  it.each([
    ['of letters', 'a', 2],
    ['of what never becomes a character', '\ufffd', 2],
  ])('%s is decoded some tokens at a time', (_, letter, stops) => {
    let decoded = 0;
    const turn = new TurnText(
      (ids) => {
        decoded += ids.length;
        return letter.repeat(ids.length);
      },
      Array.from({ length: stops }, (_, index) => `${letter}x${index}`),
    );
    const told = Array.from({ length: 5000 }, () => turn.push(1)).join('');
    const { text, rest } = turn.end();
    expect(told + rest).toBe(text);
    expect(text).toBe(letter.repeat(5000));
    expect(decoded).toBeLessThan(5000 * 40);
  });
});

describe('a sampler', () => {
  const logits = Float32Array.from([1, 3, 2, -4].map((x) => x / 2));
  const share = (settings: Omit<SamplingSettings, 'maxTokens'>): number[] => {
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < 4000; seed++) counts[new Sampler({ ...settings, seed }).choose(logits).id]!++;
    return counts.map((count) => count / 4000);
  };
  const softmax = (temperature: number): number[] => {
    const weights = [...logits].map((logit) => Math.exp(logit / temperature));
    return weights.map((weight) => weight / weights.reduce((a, b) => a + b));
  };

  it('at temperature 0 takes the most likely token', () => {
    expect(share({ temperature: 0 })).toEqual([0, 1, 0, 0]);
  });

  // The tolerance is four standard errors of a share among 4000; the seeds are fixed.
  it.each([0.5, 1, 2])('at temperature %d takes each as often as it is likely', (temperature) => {
    for (const [id, likely] of softmax(temperature).entries())
      expect(Math.abs(share({ temperature })[id]! - likely)).toBeLessThan(0.032);
  });

  it.each([
    [0, [0, 1, 0, 0]],
    [1, softmax(1)],
  ])('at temperature %d takes each by probabilities as by logits', (temperature, likely) => {
    const probabilities = Float32Array.from(softmax(1));
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < 4000; seed++) {
      const settings = { temperature, seed };
      const { id, logprob } = new Sampler(settings).chooseByProbability(probabilities);
      expect(logprob).toBeCloseTo(new Sampler(settings).choose(logits).logprob, 6);
      counts[id]!++;
    }
    for (const [id, share] of likely.entries())
      expect(Math.abs(counts[id]! / 4000 - share)).toBeLessThan(0.032);
  });

  it('with top-p takes only the most likely that together have it', () => {
    const [first, second, third, fourth] = share({ temperature: 1, topP: 0.7 });
    expect(first).toBe(0);
    expect(fourth).toBe(0);
    expect(second! / third!).toBeCloseTo(Math.exp(0.5), 0);
    expect(share({ temperature: 1, topP: 0.1 })).toEqual([0, 1, 0, 0]);
  });

  it('with top-k takes only so many of the most likely, each as often as it is likely among them', () => {
    const [, second, third] = softmax(2);
    const shares = share({ temperature: 2, topK: 2 });
    expect([shares[0], shares[3]]).toEqual([0, 0]);
    expect(Math.abs(shares[1]! - second! / (second! + third!))).toBeLessThan(0.032);
    expect(share({ temperature: 1, topK: 1 })).toEqual([0, 1, 0, 0]);
  });

  // Weights at temperature 1: 0.37, 1, 0.61, 0.03; at temperature 2: 0.61, 1, 0.78, 0.17.
  it.each<[Omit<SamplingSettings, 'maxTokens'>, readonly number[]]>([
    [{ temperature: 1, minP: 0.3 }, [0, 1, 2]],
    [{ temperature: 1, minP: 0.7 }, [1]],
    [{ temperature: 2, minP: 0.7 }, [1, 2]],
    [{ temperature: 1, minP: 1 }, [1]],
    [{ temperature: 1, minP: 0.3, topK: 2 }, [1, 2]],
    [{ temperature: 2, minP: 0.7, topK: 3 }, [1, 2]],
    // Of the two that min-p leaves, the first has 0.62; of all, it has 0.5.
    [{ temperature: 1, minP: 0.5, topP: 0.6 }, [1]],
    [{ temperature: 1, minP: 0.5, topP: 0.63 }, [1, 2]],
    [{ temperature: 1, minP: 0.3, topK: 2, topP: 0.6 }, [1]],
  ])(
    'with min-p, then top-k and top-p, %j takes only %j, each as often as it is likely among them',
    (settings, kept) => {
      const all = softmax(settings.temperature);
      const sum = kept.reduce((mass, id) => mass + all[id]!, 0);
      for (const [id, own] of share(settings).entries())
        if (kept.includes(id)) expect(Math.abs(own - all[id]! / sum)).toBeLessThan(0.032);
        else expect(own).toBe(0);
    },
  );

  it('tells the log-probability of the model itself, whatever the temperature', () => {
    const { id, logprob } = new Sampler({ temperature: 0.1, topP: 0.5, minP: 0.1, seed: 3 }).choose(logits);
    expect(logprob).toBeCloseTo(Math.log(softmax(1)[id]!), 9);
  });

  it.each([
    ['not a number', NaN],
    ['infinite', Infinity],
  ])('does not choose where a logit is %s', (_, logit) => {
    for (const temperature of [0, 1])
      expect(() => new Sampler({ temperature, seed: 3 }).choose(Float32Array.from([0, logit, 1]))).toThrow(
        'The model computes logits that are not finite',
      );
  });

  it('does not choose where the softmax of such logits is not a number', () => {
    const probabilities = Float32Array.from([NaN, NaN]);
    for (const temperature of [0, 1])
      expect(() => new Sampler({ temperature, seed: 3 }).chooseByProbability(probabilities)).toThrow(
        'The model computes logits that are not finite',
      );
  });
});
