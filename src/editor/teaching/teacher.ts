import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { Course, type StageStanding } from '../../core/loop/course';
import type { Lesson } from '../../core/loop/lesson';
import type { LoopPlan, LoopProgress, LoopResult } from '../../core/loop/plan';
import type { LoopSettings, Size } from '../../core/loop/settings';
import type { Model } from '../../core/model/model';
import { afterActivation } from '../afterActivation';
import type { Engine } from '../engine';
import { specAt, STARTER, type LocalPlace } from '../models/places';
import type { EditorTrainer } from '../trainer';
import { refuseInRestrictedMode } from '../trust/restricted';

const { t } = vscode.l10n;

/** Where teaching stands. Times in milliseconds of the clock of this process. */
export interface Teaching {
  readonly state: 'none' | 'working' | 'stopping' | 'stopped' | 'done';
  /** The last one that was begun; absent in state `none`. */
  readonly lesson?: Lesson;
  readonly stages: readonly StageStanding[];
  /** Seconds until it is over, as far as can be told. */
  readonly secondsLeft?: number;
  /** Why it has stopped by itself. */
  readonly fault?: unknown;
  /** Of the run that trains, or has trained. */
  readonly run?: string;
}

/** Who is taught, and how much is done for it in a lesson of each size. */
export interface Offer {
  readonly agent: LocalPlace;
  readonly settings: Readonly<Record<Size, LoopSettings>>;
}

/** How often those who look are told anew, in milliseconds. */
const TELL_EVERY_MS = 300;

/**
 * Teaches the agent: tasks are made, it plays them, is trained, and is measured on others. One lesson at a time for the
 * first folder of the window. What is done is on the disk, so that a lesson goes on after a reload, and after a crash.
 */
export class Teacher implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly registrations: vscode.Disposable[];
  private standing: Teaching = { state: 'none', stages: [] };
  private stopping: AbortController | undefined;
  private course: Course | undefined;
  private timer: NodeJS.Timeout | undefined;

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
    const { course, standing } = this;
    if (course === undefined) return standing;
    return { ...standing, stages: course.all, secondsLeft: course.left(performance.now()) };
  }

  /** The run of a lesson that is followed here: whoever teaches is told by the lesson how that ends. */
  follows(run: string): boolean {
    return this.standing.run === run && this.isAtWork;
  }

  /** What a lesson that is begun now would do. @param lesson one that was begun before */
  async offer(lesson?: Pick<Lesson, 'agent'>): Promise<Offer> {
    const { readLocalFolder } = await import('../../core/model/local/folder');
    const { forLargeModel, LARGEST_TRAINED_WHOLE, SIZES } = await import('../../core/loop/settings');
    const places = this.engine.localPlaces;
    const named = lesson?.agent ?? this.engine.agentName;
    const agent = places.find(({ spec }) => spec === named) ?? places.find(({ spec }) => spec === STARTER);
    if (agent === undefined)
      throw new Fault('editor/no-agent', t('There is no model here that can be taught.'));
    const isLarge = readLocalFolder(agent.folder).parameters > LARGEST_TRAINED_WHOLE;
    const { brief, standard, thorough } = SIZES;
    const settings = (size: LoopSettings): LoopSettings => (isLarge ? forLargeModel(size) : size);
    return {
      agent,
      settings: { brief: settings(brief), standard: settings(standard), thorough: settings(thorough) },
    };
  }

  /**
   * Begins another lesson, after a question where the trainer has to be installed first.
   * @throws {Fault} `editor/no-folder`, `editor/restricted`, `training/no-python`
   */
  async start(size: Size): Promise<void> {
    if (this.isAtWork || !(await this.mayTeach())) return;
    const { agent } = await this.offer();
    const { beginLesson } = await import('../../core/loop/lesson');
    this.work(await beginLesson(this.engine.dataFolder, agent.spec, size));
  }

  /** Another lesson can be begun, whatever became of the last one. */
  prepare(): void {
    if (!this.isAtWork) this.stand({ state: 'none', stages: [] });
  }

  /** Goes on with the lesson that was stopped. */
  async goOn(): Promise<void> {
    const { lesson } = this.standing;
    if (lesson === undefined || this.isAtWork || !(await this.mayTeach())) return;
    const { keepLesson } = await import('../../core/loop/lesson');
    this.work(await keepLesson({ ...lesson, isWanted: true }));
  }

  /** What was played and trained until then is kept. */
  async stop(): Promise<void> {
    const { lesson } = this.standing;
    if (lesson === undefined || this.stopping === undefined) return;
    const { keepLesson } = await import('../../core/loop/lesson');
    this.stand({
      ...this.standing,
      state: 'stopping',
      lesson: await keepLesson({ ...lesson, isWanted: false }),
    });
    this.stopping.abort();
  }

  dispose(): void {
    clearTimeout(this.timer);
    // Wanted still: it goes on when the window is back.
    this.stopping?.abort();
    vscode.Disposable.from(...this.registrations).dispose();
  }

  private get isAtWork(): boolean {
    return this.standing.state === 'working' || this.standing.state === 'stopping';
  }

  /** Finds the lesson that was the last one here, and goes on with it where nobody had stopped it. */
  private async look(): Promise<void> {
    if (this.engine.configuration.dataFolder === undefined || this.isAtWork) return;
    try {
      const { lastLesson } = await import('../../core/loop/lesson');
      const lesson = await lastLesson(this.engine.dataFolder);
      if (lesson === undefined) return;
      if (lesson.isWanted && vscode.workspace.isTrusted) this.work(lesson);
      else this.stand(restingOf(lesson));
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

  /** Does what is left of a lesson, in the background. */
  private work(lesson: Lesson): void {
    const stopping = (this.stopping = new AbortController());
    this.stand({ state: 'working', lesson, stages: [] });
    this.teach(lesson, stopping.signal)
      .then(async (result) => {
        const { endLesson } = await import('../../core/loop/lesson');
        this.end(restingOf(await endLesson(lesson, result)));
      })
      .catch((fault: unknown) => {
        const { stages } = this.now;
        const { lesson: kept = lesson, run } = this.standing;
        const stopped = { state: 'stopped', lesson: kept, stages, run } as const;
        const isMeant = stopping.signal.aborted;
        if (!isMeant) this.engine.report(fault);
        this.end(isMeant ? stopped : { ...stopped, fault });
      });
  }

  private async teach(lesson: Lesson, signal: AbortSignal): Promise<LoopResult> {
    const { runLoop } = await import('../../core/loop/loop');
    const { expectedOf, slownessHere } = await import('../../core/loop/pace');
    const offer = await this.offer(lesson);
    const slowness = await slownessHere(this.engine.locals.model(offer.agent), signal);
    const course = (this.course = new Course(expectedOf(offer.settings[lesson.size], slowness)));
    return runLoop({
      ...(await this.plan(lesson, offer)),
      signal,
      onProgress: (progress) => this.follow(course, progress),
    });
  }

  private async plan(lesson: Lesson, { agent, settings }: Offer): Promise<LoopPlan> {
    const { engine, trainer } = this;
    const { LocalModel } = await import('../../core/model/local/model');
    const { readLocalFolder } = await import('../../core/model/local/folder');
    const { trainerCode } = await import('../../core/loop/trainerCode');
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
      ...{ openModel, packs: [], simulator: 'rules', seed: lesson.seed },
      settings: settings[lesson.size],
      title: t('starter world'),
      runName: `taught-${agent.name}`,
      agent: { name: agent.spec, base, graph },
      prompts: trainer.prompts,
      trainerCode: await trainerCode(path.join(trainer.assets, 'trainer')),
      openGrader: () => engine.grader(),
      openTrainer: () => trainer.open(this.stopping?.signal ?? AbortSignal.abort()),
    };
  }

  private follow(course: Course, progress: LoopProgress): void {
    course.tell(progress, performance.now());
    if (progress.state === 'working' && progress.run !== undefined)
      this.standing = { ...this.standing, run: progress.run };
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.fire();
    }, TELL_EVERY_MS);
  }

  private end(standing: Teaching): void {
    this.stopping = undefined;
    this.course = undefined;
    this.stand(standing);
  }

  private stand(standing: Teaching): void {
    this.standing = standing;
    this.changed.fire();
  }
}

/** A lesson at which nobody is at work. */
function restingOf(lesson: Lesson): Teaching {
  const { outcome } = lesson;
  return outcome === undefined
    ? { state: 'stopped', lesson, stages: [] }
    : { state: 'done', lesson, stages: [], run: outcome.run };
}

/** What a lesson came to that has stopped by itself, in a sentence. */
export const faultWords = (fault: unknown): string =>
  fault instanceof Fault ? fault.message : t('Something went wrong: {0}', messageOf(fault));
