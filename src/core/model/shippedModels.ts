import type { World } from '../task/starter/splits';

/** Models that ship with Tandem, each in a folder of its name: one for each kind of generated tasks. */
export const SHIPPED_MODELS = ['starter', 'starter-pages', 'starter-questions'] as const;
export type ShippedModel = (typeof SHIPPED_MODELS)[number];

export const SHIPPED_FOR = {
  functions: 'starter',
  pages: 'starter-pages',
  'twenty-questions': 'starter-questions',
} as const satisfies Readonly<Record<World, ShippedModel>>;

export const isShipped = (spec: string): spec is ShippedModel =>
  SHIPPED_MODELS.some((shipped) => shipped === spec);
