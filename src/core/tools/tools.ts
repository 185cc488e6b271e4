import { showFigures } from './figures';
import type { ToolName } from './names';
import { listPacks } from './packs';
import { collect, evaluate } from './playing';
import { listRuns, startRun, stopRun } from './runs';
import type { Tool } from './tool';

/**
 * All tools that an agent can call, by their names: in the editor (`src/editor/agentTools`, and the manifest, which is
 * generated from here) and through `tandem mcp` (`src/cli/mcpServer.ts`).
 */
export const tools: Readonly<Record<ToolName, Tool>> = {
  tandem_list_packs: listPacks,
  tandem_list_runs: listRuns,
  tandem_show_figures: showFigures,
  tandem_collect: collect,
  tandem_evaluate: evaluate,
  tandem_start_run: startRun,
  tandem_stop_run: stopRun,
};

/** Returns a tool by a name that anybody may have written; undefined when there is none. */
export const toolNamed = (name: string): Tool | undefined =>
  Object.hasOwn(tools, name) ? tools[name as ToolName] : undefined;
