import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { LoopCourse, type StageState } from '../../core/evaluation/loop/loopProgress';
import type { Lesson } from '../../core/evaluation/loop/lesson';
import type { LoopPlan, LoopProgress, LoopResult } from '../../core/evaluation/loop/plan';
import type { LoopSettings, Size } from '../../core/evaluation/loop/settings';
import type { Model } from '../../core/model/model';
import { isShipped, SHIPPED_FOR } from '../../core/model/shippedModels';
import { WORLDS, type World } from '../../core/task/starter/splits';
import type { Run } from '../../core/training/runs';
import type { Trainer } from '../../core/training/trainer';
import { afterActivation } from '../background';
import type { Engine } from '../engine';
import type { Installing, EditorTrainer } from '../trainer';
import { specAt, type LocalPlace } from '../localModels';
import { lessonName, worldTitle } from '../words';
import { refuseInRestrictedMode } from '../workspaceTrust';

const { t } = vscode.l10n;

/** Times are in milliseconds of the clock of this process. */
export interface Teaching {
  readonly state: 'none' | 'working' | 'stopping' | 'stopped' | 'done';
  /** Absent in state `none`. */
  readonly lesson?: Lesson;
  readonly stages: readonly StageState[];
  /** Of the stage at work. */
  readonly secondsLeft?: number;
  /** Absent where nothing has to be installed. */
  readonly installing?: Installing;
  /** The error that stopped it. */
  readonly fault?: unknown;
  /** Id of the run that trains or trained. */
  readonly run?: string;
}

interface LessonOffer {
  readonly agent: LocalPlace;
  readonly world: World;
  /** Kinds of tasks to choose from. */
  readonly worlds: readonly World[];
  readonly settings: Readonly<Record<Size, LoopSettings>>;
}

const PROGRESS_INTERVAL_MS = 300;

/**
 * Makes tasks, has the agent play them, trains it, and measures it on other tasks. One lesson runs at a time, for the
 * first folder of the window.
 * All progress is on disk, so that a lesson resumes after a reload or a crash.
 */
export class Teacher implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly registrations: vscode.Disposable[];
  private teaching: Teaching = { state: 'none', stages: [] };
  /** True between a person's press and state `working`. */
  private isStarting = false;
  /** Undefined once the lesson has a result. */
  private stopping: AbortController | undefined;
  /** Resolves when the last stop is on disk; a result is written after it. */
  private keeping: Promise<unknown> = Promise.resolve();
  private course: LoopCourse | undefined;
  private timer: NodeJS.Timeout | undefined;
  private installing: Installing | undefined;
  private chosen: World = 'functions';

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engine: Engine,
    private readonly trainer: EditorTrainer,
  ) {
    this.registrations = [
      this.changed,
      afterActivation(() => void this.look()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.look()),
    ];
  }

  get now(): Teaching {
    const { course, installing } = this;
    const teaching = { ...this.teaching, ...(installing !== undefined && { installing }) };
    if (course === undefined) return teaching;
    return { ...teaching, stages: course.all, secondsLeft: course.left(performance.now()) };
  }

  /** Finds out whether the lesson begins with an installation. */
  async lookForTrainer(): Promise<void> {
    if (this.isAtWork || !vscode.workspace.isTrusted || (await this.trainer.isInstalled())) return;
    this.installing = { isDone: false, said: '' };
    this.changed.fire();
  }

  /** The lesson itself reports the end of such a run. After a reload it may not have found its run again. */
  follows({ id, name }: Pick<Run, 'id' | 'name'>): boolean {
    const { run, lesson } = this.teaching;
    const isIts = run === undefined ? lesson !== undefined && lessonName(lesson, t) === name : run === id;
    return isIts && this.isAtWork;
  }

  /** The kind of tasks of the next lesson. */
  choose(world: World): void {
    this.chosen = world;
    this.changed.fire();
  }

  /** @param lesson one that was begun before */
  async offer(lesson?: Pick<Lesson, 'agent' | 'world'>): Promise<LessonOffer> {
    const { readLocalFolder } = await import('../../core/model/local/folder');
    const { sizesFor } = await import('../../core/evaluation/loop/settings');
    const places = this.engine.localPlaces;
    const world = lesson?.world ?? this.chosen;
    const named = lesson?.agent ?? this.engine.agentName;
    const shipped = SHIPPED_FOR[world];
    // A model that ships for another kind of tasks does not know these.
    const agent =
      places.find(({ spec }) => spec === named && (!isShipped(spec) || spec === shipped)) ??
      places.find(({ spec }) => spec === shipped);
    if (agent === undefined)
      throw new Fault('editor/no-agent', t('There is no model here that can be taught.'));
    return {
      agent,
      world,
      worlds: WORLDS.filter((one) => places.some(({ spec }) => spec === SHIPPED_FOR[one])),
      settings: sizesFor(world, readLocalFolder(agent.folder).parameters),
    };
  }

  /**
   * Asks first where the trainer has to be installed.
   * @throws {Fault} `editor/no-folder`, `editor/restricted`, `training/no-python`
   */
  async start(size: Size): Promise<void> {
    await this.begin(async () => {
      const { agent, world } = await this.offer();
      const { beginLesson } = await import('../../core/evaluation/loop/lesson');
      return beginLesson(this.engine.dataFolder, { agent: agent.spec, world, size });
    });
  }

  /** So that another lesson can begin. */
  prepare(): void {
    if (!this.isAtWork) this.become({ state: 'none', stages: [] });
  }

  async goOn(): Promise<void> {
    const { lesson } = this.teaching;
    if (lesson === undefined) return;
    await this.begin(async () => {
      const { keepLesson } = await import('../../core/evaluation/loop/lesson');
      return keepLesson({ ...lesson, isWanted: true });
    });
  }

  /** Played dialogues and checkpoints are kept. */
  async stop(): Promise<void> {
    const { stopping } = this;
    const { keepLesson } = await import('../../core/evaluation/loop/lesson');
    const { lesson } = this.teaching;
    if (lesson === undefined || stopping === undefined || this.stopping !== stopping) return;
    const keeping = keepLesson({ ...lesson, isWanted: false });
    this.keeping = keeping.catch(() => undefined); // thrown below
    const kept = await keeping;
    // The lesson may have ended meanwhile.
    if (this.stopping !== stopping) return;
    this.become({ ...this.teaching, state: 'stopping', lesson: kept });
    stopping.abort();
  }

  dispose(): void {
    clearTimeout(this.timer);
    // The lesson is still wanted, so it resumes with the window.
    this.stopping?.abort();
    vscode.Disposable.from(...this.registrations).dispose();
  }

  private get isAtWork(): boolean {
    return this.isStarting || this.teaching.state === 'working' || this.teaching.state === 'stopping';
  }

  private async begin(open: () => Promise<Lesson>): Promise<void> {
    if (this.isAtWork) return;
    this.isStarting = true;
    try {
      if (await this.mayTeach()) this.work(await open());
    } finally {
      this.isStarting = false;
    }
  }

  /** Resumes the last lesson unless a person stopped it. Trust that is granted later brings it here again. */
  private async look(): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    if (this.engine.configuration.dataFolder === undefined) return;
    try {
      const { lastLesson } = await import('../../core/evaluation/loop/lesson');
      const lesson = await lastLesson(this.engine.dataFolder);
      // A person may have begun one meanwhile.
      if (lesson === undefined || this.isAtWork) return;
      if (lesson.isWanted) this.work(lesson);
      else this.become(restingOf(lesson));
    } catch (error) {
      this.engine.report(error);
    }
  }

  /** @throws {Fault} `editor/no-folder`, `editor/restricted`, `training/no-python` */
  private async mayTeach(): Promise<boolean> {
    refuseInRestrictedMode(t('Nothing is taught'));
    if (this.engine.configuration.dataFolder === undefined)
      throw new Fault(
        'editor/no-folder',
        t('Open a folder first: dialogues and the new model are kept in it.'),
      );
    return this.trainer.mayInstall();
  }

  private work(lesson: Lesson): void {
    const stopping = (this.stopping = new AbortController());
    this.become({ state: 'working', lesson, stages: [] });
    this.teach(lesson, stopping.signal)
      .then(async (result) => {
        this.stopping = undefined;
        const { endLesson } = await import('../../core/evaluation/loop/lesson');
        await this.keeping;
        this.end(restingOf(await endLesson(lesson, result)));
      })
      .catch((fault: unknown) => {
        const { stages } = this.now;
        const { lesson: kept = lesson, run } = this.teaching;
        const stopped = { state: 'stopped', lesson: kept, stages, run } as const;
        const isMeant = stopping.signal.aborted;
        if (!isMeant) this.engine.report(fault);
        this.end(isMeant ? stopped : { ...stopped, fault });
      });
  }

  private async teach(lesson: Lesson, signal: AbortSignal): Promise<LoopResult> {
    const trainer = await this.install(signal);
    const { runLoop } = await import('../../core/evaluation/loop/loop');
    const plan = await this.plan(lesson, await this.offer(lesson));
    const course = (this.course = new LoopCourse(plan.settings.training.method));
    return runLoop({
      ...plan,
      openTrainer: () => Promise.resolve(trainer),
      signal,
      onProgress: (progress) => this.follow(course, progress),
    });
  }

  private async install(signal: AbortSignal): Promise<Trainer> {
    const isInstalled = await this.trainer.isInstalled();
    const tell = (installing: Installing): void => {
      if (isInstalled) return;
      this.installing = installing;
      this.changeSoon();
    };
    tell({ isDone: false, said: t('looking for the trainer') });
    const trainer = await this.trainer.open(signal, (said, fraction) =>
      tell({ isDone: false, said, ...(fraction !== undefined && { fraction }) }),
    );
    tell({ isDone: true, said: '' });
    return trainer;
  }

  private async plan(
    lesson: Lesson,
    { agent, world, settings }: LessonOffer,
  ): Promise<Omit<LoopPlan, 'openTrainer'>> {
    const { engine, trainer } = this;
    const { LocalModel } = await import('../../core/model/local/model');
    const { readLocalFolder } = await import('../../core/model/local/folder');
    const { trainerCode } = await import('../../core/training/trainer');
    const workspace = engine.configuration.folder?.uri.fsPath ?? '';
    const { folder: base, graph } = readLocalFolder(agent.folder);
    const openModel = (name: string): Model => {
      if (name === agent.spec) return new LocalModel({ name, folder: agent.folder });
      const folder = name.slice('local:'.length);
      return new LocalModel({ name: specAt(folder, engine.localPlaces, workspace), folder });
    };
    return {
      folder: lesson.folder,
      data: { folder: engine.dataFolder, log: await engine.log() },
      ...{ openModel, packs: [], world, simulator: 'rules', seed: lesson.seed },
      settings: settings[lesson.size],
      // Their checks need no browser.
      pages: world === 'pages' ? engine.pages : undefined,
      title: worldTitle(world, t),
      runName: `taught-${agent.name}`,
      shownName: lessonName(lesson, t),
      agent: { name: agent.spec, base, graph },
      prompts: trainer.prompts,
      trainerCode: await trainerCode(path.join(trainer.assets, 'trainer')),
      openGrader: () => engine.grader(),
    };
  }

  private follow(course: LoopCourse, progress: LoopProgress): void {
    course.tell(progress, performance.now());
    if (progress.state === 'working' && progress.run !== undefined)
      this.teaching = { ...this.teaching, run: progress.run };
    this.changeSoon();
  }

  private changeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.fire();
    }, PROGRESS_INTERVAL_MS);
  }

  private end(teaching: Teaching): void {
    this.stopping = undefined;
    this.course = undefined;
    if (this.installing?.isDone) this.installing = undefined;
    this.become(teaching);
  }

  private become(teaching: Teaching): void {
    this.teaching = teaching;
    this.changed.fire();
  }
}

function restingOf(lesson: Lesson): Teaching {
  const { outcome } = lesson;
  return outcome === undefined
    ? { state: 'stopped', lesson, stages: [] }
    : { state: 'done', lesson, stages: [], run: outcome.run };
}

export const faultWords = (fault: unknown): string =>
  fault instanceof Fault ? fault.message : t('Something went wrong: {0}', messageOf(fault));
