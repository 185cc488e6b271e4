import type { OpenPlay, PlayRequest, Workplace } from '../../core/tools/tool';
import type { App } from '../app';
import { playersOf } from '../collecting/collect';
import type { Engine } from '../engine';

/**
 * The log that the views show. A pack is played with the settings of its own folder, as *Collect Dialogues…* does.
 * @throws {Fault} `editor/no-folder`
 */
export function workplaceOf({ engines, packs, runStarter }: App): Workplace {
  const { engine } = engines.shown;
  return {
    ...engine.places(),
    packs: async () => (await packs.all()).map(({ file }) => file),
    withLog: async (use) => use(await engine.log()),
    openPlay: (request) => openPlay(engines.of(request.packs[0]), request),
    startRun: ({ configuration, ...base }, { signal }) =>
      runStarter.start(configuration, { ...base, signal }),
  };
}

async function openPlay(
  engine: Engine,
  { purpose, agents: specs, simulator }: PlayRequest,
): Promise<OpenPlay> {
  const [first, ...others] = specs;
  const { agent, sampling, ...players } = await playersOf(engine, { agent: first, simulator });
  const agents = [agent];
  for (const spec of others) agents.push(await engine.openAgent(spec));
  const { maxTokens } = engine.configuration.sampling;
  return {
    ...players,
    agents,
    sampling: purpose === 'evaluation' ? { temperature: 0, maxTokens } : sampling,
    grader: await engine.grader(),
    // Models, grader and log are shared with the rest of the window.
    close: () => Promise.resolve(),
  };
}
