/** Yields the lines of `events.jsonl` of a run of so many steps, with evaluations on held-out examples. */
export function* runLines(steps: number): Generator<string> {
  const line = (event: string, fields: object): string =>
    `${JSON.stringify({ version: 1, at: new Date().toISOString(), event, ...fields })}\n`;
  yield line('state', { state: 'running', stage: 'critic' });
  for (let step = 1; step <= steps; step += 1) {
    const part = step / steps;
    const noise = Math.sin(step * 12.9898) * 0.15;
    yield line('step', {
      ...{ stage: 'critic', step, steps, epoch: part * 4, loss: 0.7 * Math.exp(-2 * part) + noise * 0.2 },
      ...{ margin: part + noise, accuracy: 0.5 + 0.3 * part + noise, log_ratio_chosen: part },
      ...{ log_ratio_rejected: -part, kl: part * 0.1, nll: 1.2 - part * 0.3, gradient_norm: 1 + noise },
      ...{ learning_rate: 1e-4 * (1 - part), tokens: 4096, tokens_per_second: 11_800 + 900 * noise },
      ...{ mfu: 0.4 + noise * 0.1, memory_mb: 900, seconds_left: 60 * (1 - part) },
    });
    if (step % 25 === 0)
      yield line('evaluation', {
        ...{ stage: 'critic', step, loss: 0.7 * Math.exp(-1.5 * part), margin: part },
        ...{ accuracy: 0.5 + 0.28 * part, best: true },
      });
  }
}
