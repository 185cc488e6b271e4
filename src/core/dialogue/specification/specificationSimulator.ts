import { createHash } from 'node:crypto';
import type { GenerateOptions, Model } from '../../model/model';
import { programOf } from '../../task/task';
import { transcript } from '../conversation';
import type { Prompts } from '../prompts';
import { ModelSimulator, type DialogueView, type SimulatedReply, type SimulatorRequest } from '../simulator';
import { endingIn, requiredSpecification, specifiedMessages, type SpecificationState } from './specification';
import { PERSONAS, specificationName, type Persona } from './specificationSpec';

/**
 * A model that plays the collaborator from requirements in words and a persona, and is never given the reference. It
 * may end the dialogue.
 */
export class SpecificationSimulator extends ModelSimulator {
  readonly readsSpecification = true;
  private readonly states = new Map<string, SpecificationState>();

  constructor(
    model: Model,
    prompts: Prompts,
    private readonly persona: Persona,
  ) {
    super(model, prompts);
  }

  override get name(): string {
    return specificationName({ model: this.model.name, persona: this.persona });
  }

  /** A collection is named by the published prompts alone. */
  override get fingerprint(): string {
    const { model, persona, promptVersions } = this;
    const identity = [model.fingerprint, PERSONAS[persona], promptVersions];
    return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  }

  get promptVersions(): Readonly<Record<string, string>> {
    return this.prompts.specificationVersions;
  }

  override get notes(): readonly string[] {
    const states = [...this.states.values()];
    const count = (wanted: SpecificationState): number => states.filter((state) => state === wanted).length;
    const [failed, unchecked] = [count('failed'), count('unchecked')];
    const doubts = [
      ...(failed > 0 ? [`${failed} had a specification that failed its check`] : []),
      ...(unchecked > 0 ? [`${unchecked} had an unchecked specification`] : []),
    ];
    return [
      ...(super.notes ?? []),
      ...(doubts.length > 0 ? [`${this.name}: of ${states.length} tasks, ${doubts.join(' and ')}.`] : []),
    ];
  }

  override async reply(view: DialogueView, options: GenerateOptions = {}): Promise<SimulatedReply> {
    const reply = await super.reply(view, options);
    const ending = endingIn(reply.text);
    return ending === undefined ? reply : { ...reply, text: ending.why, endsDialogue: true };
  }

  /** @throws {Fault} `dialogue/no-specification`, `task/page` */
  protected override request({ task, turns, protocol }: DialogueView): Promise<SimulatorRequest> {
    const { requirements, state } = requiredSpecification(programOf(task));
    this.states.set(task.id, state);
    const { model, persona, prompts } = this;
    const { description: request } = task;
    const said = { transcript: transcript(turns), replyLimit: protocol.replyLimit };
    const messages = specifiedMessages({ ...{ request, requirements, persona }, ...said }, prompts);
    return Promise.resolve({ generate: (...options) => model.generate(messages, ...options) });
  }
}
