import { QUICK } from '../../../core/loop/settings';
import type { Field, FieldPath, Limits } from '../../../core/training/fields';
import type { LeftOutReason } from '../../../core/trajectory/export/selection';
import type { Option } from '../../../../webview/newRun/protocol';
import { grouped } from '../../trajectories/words';
import type { Translate } from '../../translate';
import type { MethodName } from './configuration';

/** What has to be written, for a value that will not do: `Write a number above 0.` */
export function wantedWords(field: Field, t: Translate): string {
  const others = [
    ...(field.or?.includes(null) === true ? [t('Or leave it empty.')] : []),
    ...(field.or?.includes('auto') === true ? [t('Or auto.')] : []),
  ];
  switch (field.kind) {
    case 'whole':
      return [`${limited(t('Write a whole number'), field, t)}.`, ...others].join(' ');
    case 'number':
      return [`${limited(t('Write a number'), field, t)}.`, ...others].join(' ');
    default:
      return t('Choose one of what is offered.');
  }
}

function limited(what: string, { low, high, withoutLow, withoutHigh }: Limits, t: Translate): string {
  if (low === undefined) return what;
  const from = withoutLow === true ? t('{0} above {1}', what, low) : t('{0} of at least {1}', what, low);
  if (high === undefined) return from;
  return withoutHigh === true ? t('{0} and below {1}', from, high) : t('{0} and at most {1}', from, high);
}

/** Why the settings are as they are, where the person has changed none. @param copied the run that was duplicated */
export function recommendationWords(
  {
    isSmall,
    ships,
    copied,
  }: { readonly isSmall: boolean; readonly ships: boolean; readonly copied: string | undefined },
  t: Translate,
): string {
  if (copied !== undefined) return t('As in {0}', copied);
  const { trainTasks, rollouts } = QUICK;
  if (ships)
    return t(
      'Recommended for the starter model: measured to make it better with {0} dialogues',
      grouped(trainTasks * rollouts),
    );
  return isSmall
    ? t('Recommended for small models: found with the starter model')
    : t('The trainer’s own settings, which are the paper’s');
}

export function methodOptions(t: Translate): (Option & { readonly value: MethodName })[] {
  return [
    {
      value: 'sweet-rl',
      label: 'SWEET-RL',
      detail: t('A critic learns which turns helped, then the agent learns from turns that it ranks.'),
    },
    {
      value: 'rft',
      label: t('Rejection fine-tuning'),
      detail: t('The agent imitates the dialogues that succeeded.'),
    },
    {
      value: 'multiturn-dpo',
      label: t('Multi-turn DPO'),
      detail: t('The agent learns to prefer whole dialogues that succeeded to those that did not.'),
    },
    {
      value: 'value-head',
      label: t('Value head'),
      detail: t('SWEET-RL whose critic guesses the reward as a number: the usual critic, to compare with.'),
    },
    {
      value: 'untrained',
      label: t('Untrained score'),
      detail: t('SWEET-RL whose critic learns nothing: the control that shows what its training is worth.'),
    },
  ];
}

export function deviceOptions(t: Translate): Option[] {
  return [
    { value: 'auto', label: t('The best there is') },
    { value: 'cuda', label: t('GPU of NVIDIA or AMD') },
    { value: 'mps', label: t('GPU of Apple') },
    { value: 'cpu', label: t('Processor, without a GPU') },
  ];
}

/** The folded settings, in the order of the form: what each is called, and one sentence on what it does. */
export function settingWords(t: Translate): Readonly<Partial<Record<FieldPath, readonly [string, string]>>> {
  return {
    name: [t('Name'), t('What the run is called in the list.')],
    seed: [t('Seed'), t('Two runs with the same seed and data draw the same numbers.')],
    convention: [
      t('Convention'),
      t('Whether details in which the paper and its code differ follow the paper or the code.'),
    ],
    'model.revision': [
      t('Revision'),
      t(
        'A commit, tag or branch on the hub; empty is the newest. A run keeps the commit that it begins with.',
      ),
    ],
    'model.training': [
      t('What is trained'),
      t('Adapters beside the weights, the same on weights in 4 bits, or all weights.'),
    ],
    'model.lora_rank': [t('Rank of the adapters'), t('More learns more and takes more memory.')],
    'model.lora_alpha': [t('Alpha of the adapters'), t('How strongly they act; twice the rank is usual.')],
    'model.dtype': [
      t('Precision'),
      t('How numbers are kept; auto is bfloat16 on a GPU and float32 elsewhere.'),
    ],
    'data.mode': [t('Grading'), t('Whose rewards count, where the log has grades of both modes.')],
    'data.pairing': [
      t('Pairs'),
      t(
        'The first success of a task against every lower one, as in the paper, each success against them, or all against all.',
      ),
    ],
    'data.held_out': [t('Held out'), t('The fraction of tasks that are measured on and never trained on.')],
    'data.preference_weight': [
      t('Weight of choices'),
      t('What one choice of a person between two candidates counts against one ranked pair.'),
    ],
    ...stageWords('critic', t),
    'critic.hidden_information': [
      t('Sees the reference'),
      t('Whether the critic is told the hidden information, which the agent never sees.'),
    ],
    'critic.length_normalisation': [
      t('Mean over tokens'),
      t('Whether a turn’s score is its mean over tokens, so that long turns do not win by length.'),
    ],
    'candidates.per_turn': [t('Candidates for a turn'), t('How many are sampled for each history.')],
    'candidates.pairs_per_turn': [t('Pairs of a turn'), t('How many pairs are made of its candidates.')],
    'candidates.trajectories': [
      t('Part of the dialogues'),
      t('The fraction of them whose histories are sampled for; the paper takes a tenth.'),
    ],
    'candidates.rounds': [
      t('Rounds'),
      t('With more than one, candidates are sampled anew from the policy of the last round.'),
    ],
    'candidates.temperature': [t('Temperature'), t('Higher makes candidates differ more.')],
    'candidates.top_p': [t('Top p'), t('The part of the probability that is sampled from.')],
    'candidates.max_new_tokens': [t('Longest candidate'), t('Tokens after which a candidate is cut off.')],
    ...stageWords('policy', t),
    'policy.more_epochs': [t('More epochs'), t('After the others, at the rate that they came down to.')],
    'policy.minimum_reward': [
      t('Least reward'),
      t('From which reward on a dialogue is imitated; 1 is a success.'),
    ],
    'resources.token_budget': [
      t('Tokens at once'),
      t('Of one micro-batch; auto is as many as the free memory has room for.'),
    ],
    'resources.checkpoint_activations': [
      t('Compute activations twice'),
      t('Slower, with a fraction of the memory; auto does it where it is needed.'),
    ],
    'resources.logits_mb': [t('Memory of logits'), t('In MB; they are made in pieces no larger than this.')],
    'resources.checkpoint_minutes': [
      t('Minutes between checkpoints'),
      t('What a crash may cost; 0 writes one after every step.'),
    ],
    'resources.threads': [t('Threads'), t('Of the processor; empty is as many as PyTorch chooses.')],
    'resources.processes': [
      t('Processes'),
      t('Of this machine, one for each GPU; a batch is split over them.'),
    ],
    'export.onnx': [
      t('Graph of the result'),
      t('With one the model plays in the editor without PyTorch; 8 bits is small and close to the original.'),
    ],
  };
}

function stageWords<Stage extends 'critic' | 'policy'>(stage: Stage, t: Translate) {
  const words = {
    learning_rate: [
      t('Learning rate'),
      t('Empty is 2e-7 for all weights, as in the paper, and 2e-6 for adapters.'),
    ],
    batch: [t('Batch'), t('Examples of one step.')],
    epochs: [t('Epochs'), t('How often all examples are gone through.')],
    max_steps: [t('Most steps'), t('Ends the stage earlier; empty is no limit.')],
    max_tokens: [t('Longest example'), t('In tokens; longer ones are left out and counted.')],
    warmup: [t('Warm-up'), t('The fraction of the steps in which the learning rate rises.')],
    clip: [t('Largest gradient'), t('Larger ones are scaled down to this norm.')],
    weight_decay: [t('Weight decay'), t('Pulls the weights towards 0.')],
    evaluate_every: [t('Steps between looks'), t('How often held-out examples are measured.')],
    patience: [
      t('Patience'),
      t('Looks without a better figure after which the stage ends; 0 never ends it early.'),
    ],
    beta: [t('Beta'), t('How hard the model is held to where it began.')],
    nll: [
      t('Weight of imitation'),
      t('How much making the better side likelier counts beside the preference.'),
    ],
  } as const;
  return Object.fromEntries(
    Object.entries(words).map(([name, about]) => [`${stage}.${name}`, about]),
  ) as unknown as {
    readonly [Name in keyof typeof words as `${Stage}.${Name}`]: readonly [string, string];
  };
}

/** What a value of a choice is called; itself when it is a name of the field. */
export function choiceWord(value: string, t: Translate): string {
  switch (value) {
    case 'lora':
      return t('Adapters (LoRA)');
    case 'qlora':
      return t('Adapters on 4 bits (QLoRA)');
    case 'full':
      return t('All weights');
    case 'paper':
      return t('As in the paper');
    case 'reference-code':
      return t('As in its code');
    case 'successes':
      return t('Each success');
    case 'all':
      return t('All against all');
    case 'fixed':
      return t('Tandem’s own');
    case 'true':
      return t('Yes');
    case 'false':
      return t('No');
    case 'auto':
      return t('Auto');
    case '':
      return t('None');
    case 'int8':
      return t('8 bits');
    case 'int4':
      return t('4 bits');
    case 'fp32':
      return t('Float32');
    default:
      return value;
  }
}

/** Why dialogues are left out, after their number: `2 gave the reference away`. */
export function leftOutWords(reason: string, t: Translate): string {
  const words: Readonly<Partial<Record<LeftOutReason, string>>> = {
    'outside the filter': t('outside the filter'),
    'not finished': t('not finished'),
    abandoned: t('given up or skipped'),
    deleted: t('deleted'),
    'played in an evaluation': t('played in an evaluation, which training on them would spoil'),
    leaked: t('in which a reply gave the reference away'),
    'not graded': t('without a grade'),
    'below the minimum reward': t('below the least reward'),
    damaged: t('damaged in the log'),
    doubtful: t('that lines lost from the log may have deleted or marked as leaked'),
    'no consent': t('without the consent of who took part'),
    'model terms': t('written by models whose terms forbid training on it'),
  };
  // The trainer has reasons of its own.
  return (words as Readonly<Record<string, string | undefined>>)[reason] ?? reason;
}
