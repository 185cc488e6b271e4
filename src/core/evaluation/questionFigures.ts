import { askedIn } from '../dialogue/factMatcher';
import { parseAgentMessage } from '../dialogue/protocol';
import { isProgram, type Task } from '../task/task';
import { HalvingTree } from '../task/starter/questions/halvingTree';
import { ATTRIBUTES, type Attribute, type Figure } from '../task/starter/questions/objects';
import { figureIn, figuresLeft } from '../task/starter/questions/world';
import type { Trajectory } from '../trajectory/trajectory';
import { average } from './interval';

/** Of the dialogues of twenty questions, beside the best way to ask there is; averaged over dialogues. */
export interface QuestionFigures {
  readonly dialogues: number;
  /** Questions that would have been needed in expectation. */
  readonly needed: number;
  /** Questions asked, with a reply. */
  readonly asked: number;
  /** Expected information of a question in bits, at most 1; null when none was asked. */
  readonly bits: number | null;
  /** Expected questions lost by all that were asked. */
  readonly regret: number;
  /** Figures that the request and the replies leave when the agent answers. */
  readonly left: number;
}

interface AskedQuestion {
  readonly bits: number;
  readonly regret: number;
}

export interface QuestionPlayed {
  readonly needed: number;
  readonly questions: readonly AskedQuestion[];
  readonly left: number;
}

/** A table; empty without dialogues of twenty questions. */
export function questionRows(
  agents: readonly { readonly agent: string; readonly questions?: QuestionFigures }[],
): readonly (readonly string[])[] {
  const rows = agents.flatMap(({ agent, questions }) => {
    if (questions === undefined) return [];
    const { dialogues, needed, asked, bits, regret, left } = questions;
    const numbers = [needed.toFixed(1), asked.toFixed(1), bits?.toFixed(2) ?? '–', regret.toFixed(1)];
    return [[agent, String(dialogues), ...numbers, left.toFixed(1)]];
  });
  const head = ['twenty questions', 'dialogues', 'needed', 'asked', 'bits each', 'regret', 'figures left'];
  return rows.length === 0 ? [] : [head, ...rows];
}

/** Undefined without a dialogue of twenty questions. */
export function questionFigures(
  trajectories: readonly Pick<Trajectory, 'task' | 'turns'>[],
): QuestionFigures | undefined {
  const played = trajectories.flatMap((trajectory) => questionsPlayed(trajectory) ?? []);
  if (played.length === 0) return undefined;
  const questions = played.flatMap((one) => one.questions);
  return {
    dialogues: played.length,
    needed: average(played.map(({ needed }) => needed)),
    asked: questions.length / played.length,
    bits: questions.length === 0 ? null : average(questions.map(({ bits }) => bits)),
    regret: questions.reduce((sum, { regret }) => sum + regret, 0) / played.length,
    left: average(played.map(({ left }) => left)),
  };
}

/**
 * What each question of a dialogue could tell, and what it cost. A message that asks nothing the figures have counts as
 * one question that tells nothing.
 * @returns undefined for a task of another world
 */
export function questionsPlayed({
  task,
  turns,
}: Pick<Trajectory, 'task' | 'turns'>): QuestionPlayed | undefined {
  const tree = treeOf(task);
  const figure = tree && figureIn(task.reference);
  if (tree === undefined || figure === undefined || !isProgram(task)) return undefined;
  const questions: AskedQuestion[] = [];
  let left = tree.all;
  let lastReply: string | undefined;
  for (const { agent, reply } of turns) {
    if (reply === undefined) continue;
    const about = askedIn(task, parseAgentMessage(agent.text).visible, lastReply).flatMap(
      ({ fact }) => fact?.topic ?? [],
    );
    if (about.length === 0) questions.push({ bits: 0, regret: 1 });
    for (const topic of about) {
      const question = ATTRIBUTES.indexOf(topic as Attribute);
      questions.push({ bits: tree.bits(left, question), regret: tree.regret(left, question) });
      left = tree.after(left, question, figure.attributes.has(topic as Attribute));
    }
    lastReply = reply.text;
  }
  return { needed: tree.fewest(tree.all), questions, left: left.length };
}

/** By the request, because its rollouts share the tree's work. */
const trees = new Map<string, HalvingTree>();
const MAX_TREES = 2000;

function treeOf(task: Task): HalvingTree | undefined {
  const known = trees.get(task.description);
  if (known !== undefined) return known;
  const left = figuresLeft(task);
  if (left === undefined) return undefined;
  if (trees.size === MAX_TREES) trees.clear();
  const tree = new HalvingTree(left.map(answersOf));
  trees.set(task.description, tree);
  return tree;
}

const answersOf = ({ attributes }: Figure): readonly boolean[] =>
  ATTRIBUTES.map((attribute) => attributes.has(attribute));
