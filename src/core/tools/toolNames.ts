/*
 * The names of the tools, without the tools themselves (`tools.ts`): what registers them when the editor starts should
 * not load them.
 */

/** Tools that change nothing. */
export const readingTools = ['tandem_list_packs', 'tandem_list_runs', 'tandem_show_figures'] as const;

/** Tools that play, start or stop something, each after a person has confirmed it. */
export const actingTools = [
  'tandem_collect',
  'tandem_evaluate',
  'tandem_start_run',
  'tandem_stop_run',
] as const;

export type ActingTool = (typeof actingTools)[number];

export type ToolName = (typeof readingTools)[number] | ActingTool;
