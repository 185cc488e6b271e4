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
      return [`${limited(t('Enter a whole number'), field, t)}.`, ...others].join(' ');
    case 'number':
      return [`${limited(t('Enter a number'), field, t)}.`, ...others].join(' ');
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
      label: t('Untrained baseline'),
      detail: t(
        'SWEET-RL with an untrained critic: the baseline that shows what training the critic is worth.',
      ),
    },
  ];
}

export function deviceOptions(t: Translate): Option[] {
  return [
    { value: 'auto', label: t('Automatic') },
    { value: 'cuda', label: t('NVIDIA or AMD GPU') },
    { value: 'mps', label: t('Apple GPU') },
    { value: 'cpu', label: t('CPU') },
  ];
}

/** The folded settings, in the order of the form: what each is called, and one sentence on what it does. */
export function settingWords(t: Translate): Readonly<Partial<Record<FieldPath, readonly [string, string]>>> {
  return {
    name: [t('Name'), t('The name of the run in the list.')],
    seed: [t('Seed'), t('Two runs with the same seed and data draw the same random numbers.')],
    convention: [t('Convention'), t('Follow the paper or its code where the two differ.')],
    'model.revision': [
      t('Revision'),
      t(
        'A commit, tag or branch on Hugging Face; empty: the newest. A run keeps the commit that it starts with.',
      ),
    ],
    'model.training': [
      t('Trained weights'),
      t('LoRA adapters, LoRA adapters on 4-bit weights (QLoRA), or all weights.'),
    ],
    'model.lora_rank': [t('LoRA rank'), t('A higher rank can learn more and takes more memory.')],
    'model.lora_alpha': [t('LoRA alpha'), t('Scales the adapters; twice the rank is usual.')],
    'model.dtype': [
      t('Precision'),
      t('Number format of the weights; auto is bfloat16 on a GPU and float32 elsewhere.'),
    ],
    'data.mode': [t('Grading'), t('The grading mode whose rewards are used where the log has both.')],
    'data.pairing': [
      t('Pairs'),
      t(
        'The first success of a task against every lower reward, as in the paper; each success against them; or all pairs of different reward.',
      ),
    ],
    'data.held_out': [
      t('Held-out fraction'),
      t('The fraction of tasks that are used for evaluation and never for training.'),
    ],
    'data.preference_weight': [
      t('Preference weight'),
      t('The weight of one human choice between two candidates, relative to one ranked pair.'),
    ],
    ...stageWords('critic', t),
    'critic.hidden_information': [
      t('Hidden information'),
      t('The critic sees the hidden reference; the agent never does.'),
    ],
    'critic.length_normalisation': [
      t('Length normalization'),
      t('A turn’s score is its mean over tokens, so that long turns do not win by length.'),
    ],
    'candidates.per_turn': [t('Candidates per turn'), t('How many are sampled for each history.')],
    'candidates.with_logged': [
      t('With the logged turn'),
      t(
        'One of the candidates is the turn that was logged: for a model that seldom writes such turns. The paper samples all.',
      ),
    ],
    'candidates.pairs_per_turn': [t('Pairs per turn'), t('How many pairs are made of its candidates.')],
    'candidates.trajectories': [
      t('Fraction of trajectories'),
      t('The fraction of trajectories for whose histories candidates are sampled; the paper uses 0.1.'),
    ],
    'candidates.rounds': [
      t('Rounds'),
      t('In each further round, candidates are sampled from the policy of the previous round.'),
    ],
    'candidates.temperature': [t('Temperature'), t('Higher makes candidates differ more.')],
    'candidates.top_p': [
      t('Top-p'),
      t('Samples from the most likely tokens that together have this probability.'),
    ],
    'candidates.max_new_tokens': [
      t('Max. candidate length'),
      t('In tokens; longer candidates are truncated.'),
    ],
    ...stageWords('policy', t),
    'policy.more_epochs': [t('More epochs'), t('After the other epochs, at their final learning rate.')],
    'policy.minimum_reward': [
      t('Minimum reward'),
      t('Dialogues with at least this reward are imitated; 1 is a success.'),
    ],
    'resources.token_budget': [t('Tokens per micro-batch'), t('Auto uses as many as fit into free memory.')],
    'resources.checkpoint_activations': [
      t('Gradient checkpointing'),
      t('Recomputes activations: slower, with a fraction of the memory; auto uses it where needed.'),
    ],
    'resources.logits_mb': [t('Logits memory (MB)'), t('Logits are computed in chunks no larger than this.')],
    'resources.checkpoint_minutes': [
      t('Minutes between checkpoints'),
      t('The most work that a crash can lose; 0 writes a checkpoint after every step.'),
    ],
    'resources.threads': [t('Threads'), t('CPU threads; empty: PyTorch chooses.')],
    'resources.processes': [
      t('Processes'),
      t('On this machine, one per GPU; each batch is split across them.'),
    ],
    'export.onnx': [
      t('ONNX export precision'),
      t(
        'With an ONNX graph the model plays in the editor without PyTorch; 8 bits is small and close to the original.',
      ),
    ],
  };
}

function stageWords<Stage extends 'critic' | 'policy'>(stage: Stage, t: Translate) {
  const words = {
    learning_rate: [
      t('Learning rate'),
      t('Empty: 2e-7 for all weights, as in the paper, and 2e-6 for adapters.'),
    ],
    batch: [t('Batch size'), t('Examples per step.')],
    epochs: [t('Epochs'), t('Passes over all examples.')],
    max_steps: [t('Max. steps'), t('Ends the stage early; empty: no limit.')],
    max_tokens: [t('Max. example length'), t('In tokens; longer examples are dropped and counted.')],
    warmup: [t('Warm-up'), t('The fraction of the steps in which the learning rate rises.')],
    clip: [t('Gradient clipping (max norm)'), t('Larger gradients are scaled down to this norm.')],
    weight_decay: [t('Weight decay'), t('Pulls the weights towards 0.')],
    evaluate_every: [t('Evaluate every N steps'), t('Steps between evaluations on held-out examples.')],
    patience: [
      t('Early stopping patience'),
      t('Evaluations without improvement before stopping; 0 turns early stopping off.'),
    ],
    beta: [t('Beta'), t('How strongly the model is kept close to the reference model.')],
    nll: [
      t('NLL weight'),
      t('Weight of the negative log-likelihood of the better side in the preference loss.'),
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
      return t('LoRA adapters');
    case 'qlora':
      return t('QLoRA (4-bit weights)');
    case 'full':
      return t('All weights');
    case 'paper':
      return t('As in the paper');
    case 'reference-code':
      return t('As in its code');
    case 'successes':
      return t('Each success');
    case 'all':
      return t('All pairs');
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
    abandoned: t('abandoned or skipped'),
    deleted: t('deleted'),
    'played in an evaluation': t('played in an evaluation, which training on them would spoil'),
    leaked: t('in which a reply gave the reference away'),
    'not graded': t('without a grade'),
    'below the minimum reward': t('below the minimum reward'),
    damaged: t('damaged in the log'),
    doubtful: t('that lines lost from the log may have deleted or marked as leaked'),
    'no consent': t('without the participant’s consent'),
    'model terms': t('written by models whose terms forbid training on it'),
  };
  // The trainer has reasons of its own.
  return (words as Readonly<Record<string, string | undefined>>)[reason] ?? reason;
}
