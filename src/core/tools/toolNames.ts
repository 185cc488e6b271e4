// Separate from the tools (`tools.ts`), which the editor must not load at start to register the names.

/** Tools that change nothing. */
export const readingTools = ['tandem_list_packs', 'tandem_list_runs', 'tandem_show_figures'] as const;

/** Each asks a person before it plays, starts or stops something. */
export const actingTools = [
  'tandem_collect',
  'tandem_evaluate',
  'tandem_start_run',
  'tandem_stop_run',
] as const;

export type ActingTool = (typeof actingTools)[number];

export type ToolName = (typeof readingTools)[number] | ActingTool;
