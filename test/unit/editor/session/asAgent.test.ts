import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProgram, testsOf } from '../../../../src/core/task/task';
import { PERSON } from '../../../../src/core/trajectory/event';
import { Dialogue } from '../../../../src/core/dialogue/dialogue';
import { clientAgent } from '../../../../src/core/environment/episode';
import { groupsOf } from '../../../../src/core/evaluation/statistics';
import type { Simulator } from '../../../../src/core/dialogue/simulator';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import { Fault } from '../../../../src/core/fault';
import { replayOf } from '../../../../src/editor/replay/view';
import { Session } from '../../../../src/editor/session/session';
import { transcriptOf } from '../../../../src/editor/trajectories/transcript';
import { starterPack, starterTask } from '../../../fixtures/dialogue';
import { ada, right, Stage } from '../stage';
import { english } from '../translate';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

async function sessionAsAgent(): Promise<Session> {
  const from = { task: await starterTask(), pack: starterPack, packName: 'written-by-hand.jsonl' };
  return Session.ofTask(stage, { ...from, asAgent: true }, stage.drafts);
}

/** What only the collaborator knows, as it would stand in JSON. */
async function hidden(): Promise<string[]> {
  const task = await starterTask();
  if (!isProgram(task)) throw new Error('The first task is a function.');
  const texts = [task.reference, task.hiddenInformation, ...testsOf(task).map(({ call }) => call)];
  return texts.map((text) => JSON.stringify(text.trim()).slice(1, -1));
}

const question = { type: 'reply', draft: { text: 'From which weight on is a parcel heavy?' } } as const;
const answer = { type: 'reply', draft: { text: right, isAnswer: true } } as const;

describe('a person who plays the agent', () => {
  it('is shown nothing hidden before the answer, by the page, the transcript or the replay', async () => {
    const session = await sessionAsAgent();
    const seen: unknown[] = [session.snapshot, Stage.messagesOf(session)];
    await session.do({ type: 'start', consent: ada });
    await session.do(question);
    expect(session.state).toMatchObject({ phase: 'asking', seat: 'agent', turn: 2 });
    const trajectory = await stage.trajectory(session.id);
    seen.push(transcriptOf(trajectory, english, stage), replayOf(trajectory, 'ada', english, 'en'));
    const again = await stage.reloaded(session.id);
    expect(again.state).toMatchObject({ phase: 'asking', seat: 'agent' });
    seen.push(session.snapshot, again.snapshot, await again.earlierReplies());
    const all = JSON.stringify(seen);
    expect(all).toContain('From which weight on is a parcel heavy?');
    for (const text of await hidden()) expect(all).not.toContain(text);
  });

  it('is answered by the simulator and graded, and stands in the log and the statistics', async () => {
    const session = await sessionAsAgent();
    await session.do({ type: 'start', consent: ada });
    await session.do(question);
    expect(session.snapshot.turns[0]?.reply).toMatchObject({ by: 'rules', seat: 'simulator' });
    await session.do(answer);
    expect(session.state).toMatchObject({ phase: 'over', grade: { verdict: 'passed' } });
    const { agent, collaborator, turns } = await stage.trajectory(session.id);
    expect({ agent, collaborator }).toEqual({
      agent: 'person',
      collaborator: { kind: 'rules', name: 'rules' },
    });
    expect(turns.map((turn) => turn.agent)).toEqual([
      expect.objectContaining({ by: 'ada', model: 'person', text: `OUTPUT:\n${question.draft.text}` }),
      expect.objectContaining({
        by: 'ada',
        text: `OUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${right}\n\`\`\``,
      }),
    ]);
    const [group] = groupsOf((await stage.log()).outlines(), 'agent');
    expect(group).toMatchObject({ name: 'person', dialogues: 1, graded: 1, success: { value: 1 } });
  });

  it('is asked to choose a simulator where there is none, before anything is logged', async () => {
    stage.simulator = undefined;
    const session = await sessionAsAgent();
    await session.do({ type: 'start', consent: ada });
    expect(session.state).toMatchObject({ phase: 'ready', notice: { actions: ['choose-simulator'] } });
    expect((await stage.log()).list({ offset: 0, limit: 1 }).total).toBe(0);
  });

  it('goes on with another simulator after a failure, and the log names it', async () => {
    const broken: Simulator = {
      kind: 'simulator',
      name: 'broken',
      reply: () => Promise.reject(new Fault('model/unreachable', 'It is not there.')),
    };
    stage.simulator = broken;
    const session = await sessionAsAgent();
    await session.do({ type: 'start', consent: ada });
    await session.do(question);
    expect(session.state).toMatchObject({ phase: 'stopped', notice: { actions: ['choose-simulator'] } });
    stage.simulator = new RulesSimulator();
    await session.do({ type: 'again' });
    expect(session.state).toMatchObject({ phase: 'asking', turn: 2 });
    const { started, collaborator } = await stage.trajectory(session.id);
    expect([started.collaborator.name, collaborator.name]).toEqual(['broken', 'rules']);
  });

  it('is not the one who opens a dialogue of two people, which is the developer', async () => {
    const dialogue = await Dialogue.start({
      ...{ log: await stage.log(), prompts: await stage.prompts(), sampling: stage.sampling },
      ...{ agent: clientAgent(PERSON), collaborator: { kind: 'developer', name: 'ada' } },
      ...{ task: await starterTask(), protocol: stage.protocol, seed: 1 },
    });
    await dialogue.agentSaid('OUTPUT:\nFrom which weight on?', 'lee');
    const { state } = await stage.reloaded(dialogue.id);
    expect(state).toMatchObject({ phase: 'developer', seat: 'developer' });
  });
});
