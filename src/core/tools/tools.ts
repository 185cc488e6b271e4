import * as z from 'zod';
import type { ToolName } from './toolNames';
import { collect, evaluate, listPacks } from './playTools';
import { listRuns, startRun, stopRun } from './runs';
import { type Tool, defineTool, MAX_LISTED } from './tool';
import { present } from '../text';
import { AskedDialogues } from '../evaluation/askedDialogues';
import { figuresOf, groupsOf, type GroupStatistics } from '../evaluation/statistics';
import { figure, pageScoreInWords, percent } from '../evaluation/words';

const showFigures = defineTool({
  title: 'Show figures',
  about: 'Shows success, turns and leaks of the dialogues in the log.',
  description:
    'Shows the figures of the dialogues in the log, for all of them and by agent, pack or collaborator: the number of dialogues and of graded ones, the success rate (all tests of a task passed, or all checks of a web page, averaged per task first) with its 95 % interval, the mean score of web pages by each measure, the mean number of agent turns, Ask-F1 (how well the agent asks about hidden decisions, 0 to 1; for at most 2,000 dialogues), and the fraction of dialogues in which a reply gave the reference away. For a comparison of agents on the same tasks and seeds use tandem_evaluate instead.',
  effect: 'reads',
  asksModels: false,
  input: z.strictObject({
    by: z
      .enum(['agent', 'pack', 'collaborator'])
      .default('agent')
      .describe('The property to group dialogues by.'),
    agent: z.string().min(1).optional().describe('Only dialogues of this agent, such as starter.'),
    pack: z.string().min(1).optional().describe('Only dialogues about tasks of this pack, by its file name.'),
    collection: z
      .string()
      .min(1)
      .optional()
      .describe('Only dialogues of this collection, as tandem_collect and tandem_evaluate name it.'),
  }),
  run: async ({ by, ...filter }, at) => {
    const rows = await at.withLog((log) => new AskedDialogues().counted(log, log.outlines(filter)));
    if (rows.length === 0)
      return { lines: ['The log has no such dialogue.'], data: { dialogues: 0, graded: 0, groups: [] } };
    const all = figuresOf(rows);
    const groups = groupsOf(rows, by);
    const shown = groups.slice(0, MAX_LISTED);
    const lines = [`all: ${inWords(all)}`, ...shown.map((group) => `${group.name}: ${inWords(group)}`)];
    if (groups.length > shown.length) lines.push(`${groups.length - shown.length} more are not listed.`);
    return { lines, data: { ...all, groups: shown, total: groups.length } };
  },
});

function inWords({ dialogues, graded, success, pages = [], turns, askF1, leak }: GroupStatistics): string {
  return present([
    `${dialogues} dialogues, ${graded} graded`,
    success && `success ${figure(success, percent)}`,
    ...pages.map(({ scale, tasks, score }) => pageScoreInWords({ ...scale, tasks, score })),
    turns && `${turns.value.toFixed(1)} turns`,
    askF1 && `Ask-F1 ${figure(askF1, (value) => value.toFixed(2))}`,
    leak && `leaks ${figure(leak, percent)}`,
  ]).join(', ');
}

/**
 * Tools by name, for the editor (`src/editor/agentTools`, and the manifest, which is generated from here) and `tandem
 * mcp` (`src/cli/mcpServer.ts`).
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

/** The name may be any text. */
export const toolNamed = (name: string): Tool | undefined =>
  Object.hasOwn(tools, name) ? tools[name as ToolName] : undefined;
