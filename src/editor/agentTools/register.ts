import * as vscode from 'vscode';
import { actingTools, readingTools, type ActingTool, type ToolName } from '../../core/tools/toolNames';
import type { ToolResult } from '../../core/tools/tool';
import type { App } from '../app';
import { cancellable, type Report } from '../progress';
import { refuseInRestrictedMode } from '../workspaceTrust';

const { t } = vscode.l10n;

/** Registers the tools with which the agent of the editor drives Tandem. They are loaded when one is called. */
export function registerTools(app: App): vscode.Disposable {
  return vscode.Disposable.from(
    ...[...readingTools, ...actingTools].map((name) =>
      vscode.lm.registerTool(name, new AgentTool(name, app)),
    ),
  );
}

const isActing = (name: ToolName): name is ActingTool => (actingTools as readonly string[]).includes(name);

class AgentTool implements vscode.LanguageModelTool<unknown> {
  constructor(
    private readonly name: ToolName,
    private readonly app: App,
  ) {}

  /** Has the editor ask a person before a tool acts. Input that does not fit needs no question: it is refused. */
  async prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<unknown>): Promise<vscode.PreparedToolInvocation> {
    const { name, app } = this;
    const { tools } = await import('../../core/tools/tools');
    if (!isActing(name) || tools[name].refusal(input) !== undefined) return {};
    const { questionOf } = await import('./questions');
    const { withoutNulls } = await import('../../core/tools/tool');
    const { title, message, doing } = await questionOf(name, withoutNulls(input), app);
    return { invocationMessage: doing, confirmationMessages: { title, message } };
  }

  /** Fails with the sentence of the fault, which the model reads. */
  async invoke(
    { input }: vscode.LanguageModelToolInvocationOptions<unknown>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const cancel = new AbortController();
    const listening = token.onCancellationRequested(() => cancel.abort());
    try {
      refuseInRestrictedMode(t('The tools of Tandem do not run'));
      const { text, data } = await this.result(input, cancel.signal);
      const parts = [text, JSON.stringify(data)].map((part) => new vscode.LanguageModelTextPart(part));
      return new vscode.LanguageModelToolResult(parts);
    } catch (error) {
      if (!cancel.signal.aborted) this.app.engine.report(error);
      const { sentenceFor } = await import('../../core/tools/tool');
      throw new Error(sentenceFor(error), { cause: error });
    } finally {
      listening.dispose();
    }
  }

  private async result(input: unknown, signal: AbortSignal): Promise<ToolResult> {
    const { name, app } = this;
    const { tools } = await import('../../core/tools/tools');
    const { workplaceOf } = await import('./questions');
    const tool = tools[name];
    const at = workplaceOf(app);
    if (!isActing(name) || !tool.asksModels || tool.refusal(input) !== undefined)
      return tool.call(input, at, { signal, report: () => undefined });
    const title = name === 'tandem_collect' ? t('Collecting dialogues') : t('Evaluating agents');
    const work = (both: AbortSignal, report: Report): Promise<ToolResult> =>
      tool.call(input, at, {
        signal: both,
        report: (message, done = 0, total = 0) => report(message, total === 0 ? 0 : done / total),
      });
    const result = await cancellable(title, work, { signal });
    return result ?? { text: 'The developer canceled it. What was played stays in the log.', data: {} };
  }
}
