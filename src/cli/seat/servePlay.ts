import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { clientAgent } from '../../core/environment/episode';
import { openModel } from '../../core/model/spec';
import type { SamplingSettings } from '../../core/model/model';
import { remembering } from '../../core/grading/grader';
import type { ListenPlace } from '../../core/serving/listener';
import { isProgram } from '../../core/task/task';
import { PERSON } from '../../core/trajectory/event';
import { untilStopped, wrongUse, type CliContext, type CommandResult } from '../command';
import { namedKeys } from '../keys';
import {
  modelOptions,
  prepareDialogues,
  tasksOf,
  usageOf,
  type DialogueOptions,
  type PackOptions,
} from '../play';
import { openGrader, openLog, Opened } from '../resources';
import { say } from '../terminal';
import { AgentSeats } from './agentSeats';
import { SeatServer } from './seatServer';
import { SeatTasks } from './seatTasks';

interface SeatOptions extends DialogueOptions, PackOptions {
  readonly agent: string;
  readonly data: string;
  readonly sampling: SamplingSettings;
  readonly address?: string;
  readonly endWithInput?: boolean;
}

/** Lets people with a browser reply to an agent, which may be another person with a browser. */
export async function servePlay(
  options: SeatOptions,
  place: ListenPlace,
  to: CliContext,
): Promise<CommandResult> {
  const origin = originIn(options.address);
  if (origin === undefined && ['0.0.0.0', '::'].includes(place.host))
    throw wrongUse(
      `--host ${place.host} is every address of this machine; say with --address which one people open, such as http://192.168.1.5:${place.port}.`,
    );
  if (place.token !== undefined && encodeURIComponent(place.token) !== place.token)
    throw wrongUse('With --play the token stands in a link: it may have letters, digits and - . _ ~ only.');
  await using opened = new Opened();
  const keyOf = namedKeys(options.keyEnv, [options.agent]);
  const isPerson = options.agent === PERSON;
  const agent = isPerson
    ? clientAgent(PERSON)
    : opened.add(openModel(options.agent, modelOptions(to, keyOf)));
  const tasks = await tasksOf(options, to);
  if (!tasks.every(({ task }) => isProgram(task)))
    throw wrongUse('With --play only functions are played: web pages need the editor, which draws them.');
  const { prompts, protocol } = await prepareDialogues({ ...options, simulator: 'rules' }, to, keyOf);
  const grader = opened.add(remembering(await openGrader({ assets: to.assets, workers: options.jobs })));
  const log = opened.add(await openLog(options.data, to.signal));
  const counts = { begun: 0, graded: 0 };
  // A token that nobody chose is as good as a new one for each start.
  const token = place.token ?? newToken();
  const agents = isPerson ? { seats: new AgentSeats(), token: newToken() } : undefined;
  const server = await SeatServer.start({
    ...{ host: place.host, port: place.port, token, agents, origin },
    pages: path.join(to.assets, 'webview'),
    folder: options.data,
    plan: {
      ...{ log, grader, mode: options.mode, protocol, counts },
      tasks: new SeatTasks(log, options.tasks, tasks),
      parts: { log, agent, prompts, sampling: options.sampling },
    },
  });
  to.onInterrupt('Stopping; open dialogues can be continued later. Press Ctrl+C again to leave at once.');
  say(
    place.token === undefined
      ? `Open ${server.address}/#${token}; whoever has this link plays your ${tasks.length} tasks. Ctrl+C ends it.`
      : `Serving ${tasks.length} tasks to people at ${server.address}; their link is this address, /# and your token. Ctrl+C ends it.`,
  );
  if (agents !== undefined)
    say(
      `Whoever opens ${server.address}/agent#${agents.token} is the agent in these dialogues, and sees no reference.`,
    );
  await untilStopped(to.signal, options.endWithInput);
  await server.close();
  return {
    summary: { data: options.data, ...counts },
    print: () =>
      [
        `${counts.begun} dialogues were begun, and ${counts.graded} answers were graded.`,
        ...usageOf(agent),
      ].join('\n'),
  };
}

const newToken = (): string => randomBytes(24).toString('base64url');

/** @throws {Fault} `usage` for what is no origin of a web page */
function originIn(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '')
    return url.origin;
  throw wrongUse(`--address takes an address without a path, such as https://lab.example, not "${address}".`);
}
