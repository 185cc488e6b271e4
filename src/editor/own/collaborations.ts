import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../core/fault';
import { ownTask } from '../../core/task/own';
import { functionNamed, functionsIn, functionText } from '../../core/task/python/functions';
import type { Task } from '../../core/task/task';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { OwnFunction, SessionState } from '../../../webview/session/protocol';
import { Owner } from '../background';
import type { Engines } from '../engines';
import { askSignal } from '../inputSteps';
import { AcceptedAnswers, type DueAnswer } from './acceptedAnswers';
import { askRequest, pointedAt } from './functionAtCursor';
import { OwnFunctions, type PlayedFunction, proposalSchema, type Proposal } from '../ownFunctions';
import type { AnswerDecision, Proposals, Undone } from './proposals';

const { t } = vscode.l10n;

/** A session, as far as its answer belongs into a file. */
interface PlayedSession {
  readonly id: string | undefined;
  readonly from: { readonly own?: OwnFunction };
  readonly state: Pick<SessionState, 'phase'>;
  readonly answer: string | undefined;
  do(request: { readonly type: 'undone'; readonly isUndone: boolean }): Promise<void>;
}

interface SessionPanel {
  readonly shown: PlayedSession;
  readonly wasClosed: boolean;
}

interface Sessions {
  readonly open: readonly SessionPanel[];
  readonly onDidChangePanel: vscode.Event<SessionPanel>;
  openOwn(task: Task, own: OwnFunction): Promise<unknown>;
}

/** Dialogues about a developer's own functions: the hidden information is in the developer's head. */
export class Collaborations extends Owner {
  private readonly functions: OwnFunctions;
  private readonly accepted: AcceptedAnswers;

  constructor(
    memory: vscode.Memento,
    private readonly engines: Engines,
    private readonly panels: Sessions,
    private readonly proposals: Proposals,
    now?: () => number,
  ) {
    super();
    const report = (error: unknown): void => engines.first.report(error);
    this.functions = new OwnFunctions(memory);
    this.accepted = new AcceptedAnswers(memory, {
      firstMs: () => engines.first.configuration.survivalMs,
      measure: (answer) => this.measure(answer),
      report,
      now,
    });
    this.owns(
      panels.onDidChangePanel(
        (panel) => void this.follow(panel).catch((error: unknown) => engines.first.show(error)),
      ),
      proposals.onDidDecide((decision) => void this.log(decision).catch(report)),
      proposals.onDidUndo((undone) => void this.undo(undone).catch(report)),
      engines.first.configuration.onDidChange(() => this.accepted.wait()),
      this.accepted,
    );
  }

  /** @param what the function of a lens; by default the one at the cursor */
  async start(what?: unknown): Promise<void> {
    const { document, function: wanted } = pointedAt(what);
    const engine = this.engines.of(document.uri.fsPath);
    const request = await askRequest(
      wanted,
      t('Collaborate on {0}', wanted.name),
      t(
        'What should it do? A vague description will do; the agent asks. {0} gets this text, the signature and your replies, nothing else of your code.',
        engine.agentName === '' ? t('The agent') : engine.calledBy(engine.agentName),
      ),
    );
    if (request === undefined) return;
    const { name, defLine: near } = wanted;
    const own = { file: document.uri.toString(), name, near };
    await this.panels.openOwn(ownTask(request, wanted.signature), own);
  }

  /** @param what the dialogue of the answer, or the answer itself */
  async review(what: unknown): Promise<void> {
    const proposal = proposalSchema().safeParse(what).data;
    if (proposal !== undefined) return this.proposals.show(proposal);
    const episode = z.object({ episode: z.string() }).safeParse(what).data?.episode;
    if (episode === undefined) return;
    const played = this.functions.of(episode);
    if (played !== undefined) return this.reviewOf(played);
    throw new Fault(
      'editor/no-target',
      t('Tandem no longer knows which file this dialogue is about. Copy the answer from the dialogue.'),
    );
  }

  /** Forgets the functions and answers of dialogues that were erased. */
  async forget(isKept: (episode: string) => boolean): Promise<void> {
    await this.functions.forget(isKept);
    await this.accepted.forget(isKept);
  }

  private async follow({ shown: session, wasClosed }: SessionPanel): Promise<void> {
    const {
      id: episode,
      from: { own },
    } = session;
    // A closed session may be of a dialogue that was erased.
    if (wasClosed || episode === undefined || own === undefined) return;
    const known = this.functions.of(episode);
    const played = known ?? { ...own, episode, isShown: false };
    const isNew = !played.isShown && session.state.phase === 'over' && session.answer !== undefined;
    if (isNew || known === undefined) await this.functions.keep({ ...played, isShown: isNew });
    if (played.isUndone === true) await session.do({ type: 'undone', isUndone: true });
    if (isNew) await this.reviewOf(played);
  }

  /** The log has what a person decided; `measure` adds what became of it. */
  private async undo({ episode, isUndone }: Undone): Promise<void> {
    const played = this.functions.of(episode);
    if (played !== undefined) await this.functions.keep({ ...played, isUndone });
    const shown = this.panels.open.find((panel) => panel.shown.id === episode)?.shown;
    await shown?.do({ type: 'undone', isUndone });
  }

  private async reviewOf({ episode, file, name, near }: PlayedFunction): Promise<void> {
    const log = await (await this.engines.withEpisode(episode)).log();
    const answer = (await log.trajectory(episode))?.answer?.answer;
    if (answer === undefined) return;
    const { extractCode } = await import('../../core/grading/code');
    const code = extractCode(answer, 'fixed', [`${name}()`]);
    if (functionsIn(code).some((each) => each.name === name)) {
      await this.proposals.show({ file, name, near, code, episode });
      return;
    }
    void vscode.window.showWarningMessage(
      t(
        'The answer does not define {0}, so nothing can be inserted. Start again and describe it in more detail.',
        name,
      ),
    );
  }

  private async log({ proposal, accepted: code }: AnswerDecision): Promise<void> {
    if (proposal.episode === undefined) return;
    const { episode } = proposal;
    const outcome = code === undefined ? 'rejected' : 'accepted';
    await this.write(episode, (log, by) =>
      log.append({ event: 'outcome', episode, outcome, by }, { durable: true }),
    );
    const { consent, configuration } = await this.engines.withEpisode(episode);
    if (code === undefined) {
      // A measurement of what was accepted before would count in place of the rejection.
      await this.accepted.forget((other) => other !== episode);
      await askSignal(consent, 'outcomes');
      return;
    }
    // What was put into the file is measured later, not what was left out of it.
    await this.accepted.add({ ...proposal, code });
    const what = t(
      'They stay on this machine. Tandem then logs the function as it stands {0} min after you accept an answer.',
      Math.round(configuration.survivalMs / 60_000),
    );
    // One question at a time.
    if (!(await askSignal(consent, 'own-code', what))) await askSignal(consent, 'outcomes');
  }

  private async measure({ proposal, age, due }: DueAnswer): Promise<void> {
    const { functionNow, logSurvived, survival } = await import('../../core/dialogue/survival');
    const { episode, name, near } = proposal;
    const source = await textOf(proposal.file);
    const survived = survival(proposal.code, codeIn(source, proposal));
    // In a file without the answer, the function says nothing about what was wanted.
    const isCaptured = name !== undefined && this.functions.of(episode!)?.isUndone !== true;
    await this.write(episode!, async (log, by) => {
      const before = (await log.trajectory(episode!))?.outcome;
      // What the person agreed to is the function some minutes after the answer, not as it is a day later.
      const isFirst = before?.survived === undefined;
      const mayHaveCode = isCaptured && log.allowed.covers(by, 'own-code');
      const codeNow = mayHaveCode && isFirst ? await functionNow(source, name, near) : undefined;
      const measured = {
        outcome: survived < 1 ? 'edited' : 'accepted',
        survived: Math.round(survived * 1000) / 1000,
        milliseconds: age,
        code: mayHaveCode ? (codeNow ?? before?.code) : undefined,
        by,
      } as const;
      await logSurvived(log, episode!, measured, due);
    });
  }

  /** Writes only what the developer has consented to, and only while the log has the dialogue. */
  private async write(
    episode: string,
    append: (log: TrajectoryLog, by: string) => Promise<unknown>,
  ): Promise<void> {
    const engine = await this.engines.withEpisode(episode);
    const by = engine.consent.given?.pseudonym;
    const log = await engine.log();
    if (by === undefined || log.summary(episode) === undefined) return;
    await engine.consent.record();
    await append(log, by);
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return (await vscode.workspace.openTextDocument(vscode.Uri.parse(file))).getText();
  } catch {
    // A deleted file has nothing of the answer.
    return '';
  }
}

/** Returns all of the file when the function is gone, or the answer holds more than the function. */
function codeIn(source: string, { name, near, code }: Proposal): string {
  const there = name === undefined ? undefined : functionNamed(source, name, near);
  // An answer may bring imports and helpers, which stand beside the function.
  return there === undefined || functionsIn(code).length > 1 || !code.trimStart().startsWith('def')
    ? source
    : functionText(source, there);
}
