import * as vscode from 'vscode';
import * as z from 'zod';
import {
  actions,
  type Action,
  type Found,
  type FromWebview,
  type Shown,
  type ToWebview,
} from '../../../webview/replay/protocol';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { isProgram } from '../../core/task/task';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { idOf, type CommandName } from '../contributions';
import { type Credits, logVerdict, type NewVerdict } from '../credit/credits';
import {
  closeReferences,
  columnBeside,
  documentUri,
  showBeside,
  type TaskPlace,
  openLink,
} from '../documents';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { language } from '../pageHtml';
import { Panel, type Asks } from '../panel';
import { Panels } from '../panels';
import { calledOf, modelsOf } from '../displayNames';
import { taskView } from '../../views/turnView';
import { manageTrust } from '../workspaceTrust';
import { creditsView, relatedTo, replayOf } from './view';
import { continueFrom } from '../forking';
import { noTrajectory } from '../logs';

const { t } = vscode.l10n;

interface ReplayContext {
  readonly extension: vscode.Uri;
  readonly engines: Engines;
  readonly credits: Credits;
}

export class ReplayPanel extends Panel<FromWebview, ToWebview> {
  private readonly engines: Engines;
  private readonly credits: Credits;
  /** Number of the latest message on the credit; an older one that arrives later is dropped, because it is outdated. */
  private told = 0;
  private found: Found | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    public episodes: readonly string[],
    on: ReplayContext,
  ) {
    const icon = episodes.length === 2 ? 'split-horizontal' : 'history';
    super(panel, { ...on, name: 'replay', icon, errors: on.engines.first, actions });
    this.engines = on.engines;
    this.credits = on.credits;
    this.owns(
      on.engines.onDidChangeLog(({ episodes: changed }) => {
        if (changed.length === 0 || changed.some((id) => this.episodes.includes(id))) this.follow();
      }),
      on.credits.choice.onDidChange(() => this.follow()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.follow()),
    );
  }

  async turnTo(episode: string, found?: Found): Promise<void> {
    this.episodes = [episode];
    this.found = found;
    await this.start();
  }

  private async start(): Promise<void> {
    await this.show();
    if (this.found !== undefined) await this.post(this.found);
  }

  async show(): Promise<void> {
    const engine = await this.engine();
    const trajectories = await this.trajectories(engine);
    const [first] = trajectories;
    if (first === undefined || trajectories.length < this.episodes.length) {
      this.dispose();
      return;
    }
    const task = taskView(first.task, first.started.pack);
    const own = engine.consent.given?.pseudonym;
    const draw = isProgram(first.task) ? undefined : engine.drawPage;
    const log = await engine.log();
    const replays = trajectories.map((trajectory) => ({
      ...replayOf(trajectory, own, t, language(), draw),
      ...relatedTo(trajectory, log, t),
    }));
    const title = replays[0]!.label?.title ?? task.title;
    this.title = replays.length === 2 ? t('{0}: two dialogues', task.title) : t('{0}: replay', title);
    const shown: Shown = {
      type: 'show',
      ...(own !== undefined && { own }),
      called: calledOf(replays.flatMap(modelsOf), engine),
      task,
      ...(draw && { wanted: draw(first.task.reference) }),
      replays,
    };
    await this.post(shown);
    await this.showCredit(engine, trajectories);
  }

  private follow(): void {
    this.show().catch((error: unknown) => this.engines.first.report(error));
  }

  /** Sends the credit in a message of its own, because it may take a moment to find. */
  private async showCredit(engine: Engine, trajectories: readonly Trajectory[]): Promise<void> {
    this.told += 1;
    const { told } = this;
    const known = await this.credits.known(engine, trajectories);
    if (told !== this.told) return;
    const on = { own: engine.consent.given?.pseudonym, restriction: this.credits.restriction };
    await this.post(creditsView(known, trajectories, on, t));
  }

  private async trajectories(engine: Engine): Promise<Trajectory[]> {
    const found = [];
    for await (const trajectory of (await engine.log()).trajectories(this.episodes)) found.push(trajectory);
    return found;
  }

  /** Two dialogues that are compared are in one log. */
  private engine(): Promise<Engine> {
    return this.engines.withEpisode(this.episodes[0]!);
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.start(),
    copy: ({ text }) => vscode.env.clipboard.writeText(text),
    'open-link': ({ address }) => openLink(address),
    fork: ({ episode, turn, by }) => this.withShown(episode, () => continueFrom(episode, { turn, by })),
    compare: ({ episodes: [one, other] }) => this.withShown(one, () => this.compare(one, other)),
    act: (message) => this.act(message),
    'choose-critic': () => this.chooseCritic(),
    score: () => this.score(),
    'manage-trust': () => manageTrust(),
    judge: ({ episode, turn, agrees }) => this.judge(episode, { turn, agrees: agrees ?? undefined }),
  };

  private async chooseCritic(): Promise<void> {
    const place = await this.credits.choice.choose(await this.engine());
    // A person who chooses a critic wants its credit; where it may not run, the view says why.
    if (place !== undefined && this.credits.restriction === undefined) await this.score();
  }

  private async score(): Promise<void> {
    const engine = await this.engine();
    const trajectories = await this.trajectories(engine);
    if (await this.credits.compute(engine, trajectories)) await this.show();
  }

  private async judge(episode: string, verdict: NewVerdict): Promise<void> {
    const engine = await this.engine();
    const trajectories = await this.trajectories(engine);
    const known = await this.credits.known(engine, trajectories);
    const index = trajectories.findIndex(({ id }) => id === episode);
    const credit = known?.credits[index];
    if (credit?.turns.some(({ turn }) => turn === verdict.turn) === true)
      await logVerdict(engine, trajectories[index]!, credit, verdict);
    else this.note('a verdict on what no critic has said');
  }

  private withShown(episode: string, act: () => unknown): unknown {
    if (this.episodes.includes(episode)) return act();
    this.note('a dialogue that it does not show');
  }

  private async compare(one: string, other: string): Promise<void> {
    const log = await (await this.engine()).log();
    const nodes = [one, other].map((id) => ({ kind: 'trajectory', summary: log.summary(id) }));
    await vscode.commands.executeCommand(idOf('compareTrajectories'), nodes[0], nodes);
  }

  private note(what: string): void {
    const sentence = `The replay asked for ${what}. Nothing was done.`;
    this.engines.first.report(new Fault('editor/not-shown', sentence));
  }

  private async act({ action, episode }: Extract<FromWebview, { type: 'act' }>): Promise<void> {
    if (!this.episodes.includes(episode)) {
      this.note('a dialogue that it does not show');
      return;
    }
    const log = await (await this.engine()).log();
    const trajectory = await log.trajectory(episode);
    const summary = log.summary(episode);
    if (trajectory === undefined || summary === undefined) throw noTrajectory(episode);
    const { task } = trajectory;
    const node = { kind: 'trajectory', summary };
    switch (action) {
      case 'open-reference':
        return showBeside(this.panel, documentUri('reference', task, { episode }));
      case 'open-tests':
        return showBeside(this.panel, documentUri('tests', task, { episode }));
      case 'compare-with-reference':
        return this.diff(trajectory, documentUri('reference', task, { episode }), (title) =>
          t('{0}: answer ↔ reference', title),
        );
      case 'compare-answers': {
        const other = this.episodes.find((one) => one !== episode) ?? episode;
        return this.diff(trajectory, documentUri('answer', task, { episode: other }), (title) =>
          t('{0}: two answers', title),
        );
      }
      default:
        return vscode.commands.executeCommand(idOf(commandsOf[action]), node);
    }
  }

  private async diff(
    { id, task, started }: Trajectory,
    right: vscode.Uri,
    titled: (task: string) => string,
  ): Promise<void> {
    const { title } = taskView(task, started.pack);
    const left = documentUri('answer', task, { episode: id });
    const where: vscode.TextDocumentShowOptions = { viewColumn: columnBeside(this.panel) };
    await vscode.commands.executeCommand('vscode.diff', left, right, titled(title), where);
  }
}

const commandsOf = {
  'open-transcript': 'openTranscript',
  'open-session': 'openSession',
  'compare-with': 'compareTrajectory',
  'next-failure': 'nextFailure',
  'previous-failure': 'previousFailure',
  'next-unreviewed': 'nextUnreviewed',
  accept: 'acceptTrajectories',
  redo: 'redoTrajectories',
  'take-review-back': 'unreviewTrajectories',
  rename: 'renameTrajectory',
  tag: 'tagTrajectories',
  note: 'noteOnTrajectory',
} as const satisfies Partial<Record<Action, CommandName>>;

const keptSchema = lazily(() => z.object({ episodes: z.array(z.string()).min(1).max(2) }));

export class Replays extends Panels<readonly string[], ReplayPanel> {
  constructor(private readonly on: ReplayContext) {
    super({
      name: 'replay',
      errors: on.engines.first,
      // A dialogue replaces the one that was read before.
      shows: ({ episodes }, others) =>
        episodes.length === others.length && (others.length === 1 || episodes.join() === others.join()),
      // A page that was closed before it drew anything has kept nothing.
      restore: (kept) => keptSchema().safeParse(kept).data?.episodes,
      load: () => (panel, episodes) => new ReplayPanel(panel, episodes, on),
    });
  }

  /** The dialogue that is replayed alone in the editor that has the focus, or had it last. */
  get front(): string | undefined {
    const { episodes = [] } = this.active ?? {};
    return episodes.length === 1 ? episodes[0] : undefined;
  }

  get single(): string | undefined {
    return this.all.find(({ episodes }) => episodes.length === 1)?.episodes[0];
  }

  /** @param preserveFocus true while a person goes through a list */
  async replay(episode: string, preserveFocus = false, found?: Found): Promise<void> {
    const panel = await this.open([episode], undefined, preserveFocus);
    if (panel.episodes[0] !== episode || found !== undefined) await panel.turnTo(episode, found);
  }

  /** @throws {Fault} `editor/other-task` when they are not of one task */
  async compare(first: string, second: string): Promise<void> {
    const log = await (await this.on.engines.withEpisode(first)).log();
    const taskId = log.summary(first)?.taskId;
    if (taskId !== log.summary(second)?.taskId) {
      throw new Fault(
        'editor/other-task',
        t('These dialogues are about different tasks. Choose two of the same task.'),
      );
    }
    await closeReferences((place) => taskOf(place, log) !== taskId);
    await this.open([first, second]);
  }
}

const taskOf = (place: TaskPlace, log: TrajectoryLog): string | undefined =>
  'task' in place ? place.task : log.summary(place.episode)?.taskId;
