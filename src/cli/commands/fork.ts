import { randomUUID } from 'node:crypto';
import { Dialogue } from '../../core/dialogue/dialogue';
import { forkOf } from '../../core/dialogue/fork';
import type { GradingMode } from '../../core/grading/grade';
import { openAgent } from '../../core/model/spec';
import type { SamplingName } from '../../core/samplingSettings';
import { deriveSeed } from '../../core/seed';
import { isProgram } from '../../core/task/task';
import { wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { keyEnvOption, namedKeys } from '../keys';
import * as play from '../play';
import { openDrawing, Opened, type PageOptions } from '../resources';

interface ForkOptions extends PageOptions, Readonly<Partial<Record<SamplingName, number>>> {
  readonly turn: number;
  readonly reply?: boolean;
  readonly agent: string;
  readonly simulator: string;
  readonly data: string;
  readonly mode: GradingMode;
  readonly seed: number;
  readonly prompts?: string;
  readonly keyEnv?: readonly string[];
  readonly maxTokens: number;
  readonly temperature: number;
}

export const installFork: Install = (program, perform) => {
  const command = program
    .command('fork')
    .description(
      'continue a dialogue of the log otherwise from a turn on, as a dialogue of its own, and grade it',
    )
    .argument('<dialogue>', 'id of the dialogue')
    .addOption(play.whole('--turn <n>', 'the turn from which it is played anew', 1).makeOptionMandatory())
    .option('--reply', 'keep the agent’s message of that turn, and begin with the reply to it')
    .requiredOption('--agent <model>', play.AGENT_WORDS)
    .requiredOption('--simulator <model>', `the simulator: ${play.SIMULATOR_WORDS}`)
    .addOption(play.dataOption())
    .addOption(play.whole('--seed <s>', 'another seed gives another fork', 0, 0))
    .addOption(play.modeOption())
    .option('--prompts <folder>', 'your own prompts, as for collect')
    .addOption(keyEnvOption());
  play.addPageOptions(play.addSamplingOptions(command, { temperature: 1 })).action(perform(fork));
};

async function fork(id: string, options: ForkOptions, to: CliContext): Promise<CommandResult> {
  const { data, turn, mode, seed } = options;
  const by = options.reply === true ? 'reply' : 'message';
  const keyOf = namedKeys(options.keyEnv, [options.agent, options.simulator]);
  await using opened = new Opened();
  // The protocol is that of the dialogue.
  const rules = { ...options, ...{ jobs: 1, concurrency: 1, maxTurns: 1 } };
  const players = await play.openPlayers(rules, [options.agent], { open: openAgent, keyOf }, to, opened);
  const { log, simulator, grader } = players;
  const agent = players.agents[0]!;
  const parent = await log.trajectory(id);
  if (parent === undefined) throw wrongUse(`No dialogue in ${data} is called ${id}.`);
  const begun = forkOf(parent, { turn, by }, log);
  const episode = randomUUID();
  const claim = await log.claim(`episode-${episode}`, 'This dialogue');
  try {
    const dialogue = await Dialogue.start({
      ...players,
      ...openDrawing(!isProgram(parent.task), options, to, opened),
      ...begun,
      ...{ id: episode, agent },
      collaborator: { kind: simulator.kind, name: simulator.name },
      seed: deriveSeed(seed, id, turn, by),
    });
    await dialogue.play({ signal: to.signal });
    const { reward, success } = await dialogue.grade(grader, mode, to.signal);
    const { parent: from } = begun;
    return {
      summary: {
        data,
        dialogue: episode,
        parent: from.id,
        turn,
        by,
        turns: dialogue.turns.length,
        reward,
        success,
      },
      print: () =>
        [
          `The fork ${episode} is in ${data}: ${by === 'reply' ? `the reply to turn ${turn}` : `turn ${turn}`} and what follows is new, the rest is of ${from.id}. Its reward is ${reward ?? 'unknown'}.`,
          ...play.usageOf(agent),
          ...play.usageOf(simulator),
        ].join('\n'),
    };
  } finally {
    await claim.release();
  }
}
