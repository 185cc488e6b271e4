// Runs inside a real extension host, which calls `run` because the page's address names this module: plays the tasks of
// the workspace one after the other, by the simulator, and writes down each dialogue whose grade is shown.
import { appendFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Session } from '../../../src/editor/session/session';
import type { Tandem } from '../../../src/extension';

const consent = { pseudonym: 'ada', purpose: 'a benchmark', level: 'local' } as const;
const LOOK_EVERY_MS = 100;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function run(): Promise<void> {
  const done = process.env.TANDEM_CHAOS_DONE!;
  const tandem = await vscode.extensions.getExtension<Tandem>('tandem.tandem')!.activate();
  for (;;) {
    for (const task of (await tandem.packs.all()).flatMap(({ tasks }) => tasks)) {
      const panel = await tandem.panels.openTask(task);
      // Every task has a dialogue already, so this one is played again.
      if (panel.shown.state.phase === 'over' && panel.shown.state.grade) await tandem.panels.replay(panel);
      await play(panel.shown);
      appendFileSync(done, `${panel.shown.id}\n`);
      panel.dispose();
    }
  }
}

/** Plays a dialogue from its present state to its grade. */
async function play(session: Session): Promise<void> {
  for (;;) {
    const { phase, grade } = session.state;
    if (phase === 'over' && grade) return;
    if (phase === 'over') await session.do({ type: 'grade' });
    else if (phase === 'ready') await session.do({ type: 'start', consent: consent });
    else if (phase === 'developer')
      await (session.state.consent
        ? session.do({ type: 'start', consent: consent })
        : session.do({ type: 'simulator-on' }));
    else if (phase === 'stopped' || phase === 'skipped') await session.do({ type: 'again' });
    await pause(LOOK_EVERY_MS);
  }
}
