import path from 'node:path';
import { LocalModel } from '../core/model/local/model';
import { openModel } from '../core/model/spec';
import { ModelServer } from '../core/modelServer/server';
import { untilStopped, wrongUse, type CliContext, type CommandResult, type ServedAt } from './command';
import { say } from './output';
import { modelOptions } from './play';
import { usageOf } from './usage';

interface ServeModelOptions extends ServedAt {
  readonly model: string;
  /** By which clients ask for it; by default that of the starter model, or of the folder. */
  readonly name?: string;
}

/** Serves a model that runs here until Ctrl+C or SIGTERM. */
export async function serveModel(
  { model: spec, name, endWithInput, ...place }: ServeModelOptions,
  to: CliContext,
): Promise<CommandResult> {
  const model = openModel(spec, modelOptions(to));
  try {
    if (!(model instanceof LocalModel))
      throw wrongUse(
        `--model takes starter or local:<folder>, a model that runs on this machine, not "${spec}".`,
      );
    const { folder } = await model.describe();
    const id = name ?? (spec === 'starter' ? spec : path.basename(folder));
    const server = await ModelServer.start({ model, id, ...place });
    to.onInterrupt('Stopping; open requests get an error. Press Ctrl+C again to leave at once.');
    const agent = `openai:${id}@${server.address}/v1`;
    say(`Serving ${spec} at ${server.address}/v1; other commands call it ${agent}; Ctrl+C ends it.`);
    await untilStopped(to.signal, endWithInput);
    await server.close();
    return {
      summary: { model: spec, name: id, ...model.counts },
      print: () => ['Nothing is served any more.', ...usageOf(model)].join('\n'),
    };
  } finally {
    await model.close?.();
  }
}
