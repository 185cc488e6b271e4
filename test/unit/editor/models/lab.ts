import type { Server } from '../../../../src/editor/models/server';

/** A connected model, without a price and with one, and its use in a log. */
export const qwen: Server = { name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3' };
export const priced: Server = { ...qwen, price: { prompt: 0.15, completion: 0.6 } };
export const use = { turns: 12, replies: 1, promptTokens: 30_000, completionTokens: 4_100, uncounted: 0 };
