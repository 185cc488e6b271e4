import { expect, it } from 'vitest';
import { canBeLogarithmic, figures } from '../../../../webview/chart/figures';
import { figureNames } from '../../../../webview/chart/protocol';

it.each(figureNames)('draws %s with a title, a note and a number format', (name) => {
  const { title, note, format } = figures[name];
  expect(title).not.toBe('');
  expect(note).not.toBe('');
  expect(format(0.5)).not.toBe('');
});

it('formats a figure by its unit', () => {
  const { accuracy, tokens_per_second, memory_mb, loss } = figures;
  expect(accuracy.format(0.5)).toBe('50.0 %');
  expect(tokens_per_second.format(1234.5)).toBe('1,235');
  expect(memory_mb.format(2048)).toBe('2.0 GB');
  expect(loss.format(0.5)).toBe('0.500');
});

it('ends the axis at the bounds that the trainer declares', () => {
  expect(figures.accuracy).toMatchObject({ least: 0, most: 1 });
  expect(canBeLogarithmic(figures.accuracy)).toBe(false);
  expect(figures.mfu).toMatchObject({ least: 0, most: undefined });
  expect(canBeLogarithmic(figures.mfu)).toBe(true);
});
