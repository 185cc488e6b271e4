/** Fields of a `run.json`, two levels deep: `{ policy: { beta: 0.1 } }`. */
export type RunFields = Readonly<Record<string, string | number | Readonly<Record<string, unknown>>>>;

/** Hyperparameters of a method; the setting with the highest success on the development split is chosen. */
export interface Setting {
  readonly name: string;
  readonly fields: RunFields;
}

/** `anchor`: all others are compared with it. `new`: ours. `other`: a baseline or an ablation. */
type Role = 'anchor' | 'new' | 'other';

interface Described {
  readonly name: string;
  /** Description in one sentence, for the page. */
  readonly about: string;
  readonly role: Role;
  /** Settings to try; not empty. */
  readonly settings: readonly Setting[];
}

/** Trains a model from the start model and the dialogues of its seed. `fields` define the method. */
export interface TrainedMethod extends Described {
  readonly fields: RunFields;
  /** Dialogues of each task that it learns from, where these are not the plan's; the number of dialogues is the same. */
  readonly rollouts?: number;
  /**
   * Its tasks are divided among so many rounds. The start plays those of the first round, and the model that learned
   * from all earlier rounds those of the next; the last training begins from the start again, with all dialogues.
   */
  readonly rounds?: number;
}

/** Plays with an agent that is composed of the start model and of what other methods trained with the same seed. */
export interface AgentMethod extends Described {
  /** Names of the trained methods whose results the agent uses, each with its chosen setting. */
  readonly uses: readonly string[];
  /** The agent as on the command line; `fields` are those of the setting. */
  readonly agent: (parts: AgentParts, fields: RunFields) => string;
}

export type Method = TrainedMethod | AgentMethod;

export interface AgentParts {
  /** The start model as on the command line. */
  readonly start: string;
  /** Folder of a used method's model, and of its critic. */
  readonly model: (method: string) => string;
  readonly critic: (method: string) => string;
}

export const isTrained = (method: Method): method is TrainedMethod => 'fields' in method;

/** Fields of all runs, unless their method or setting overrides them. */
export const common: RunFields = {
  // A model this small is trained in full, as in the paper; in float32, because it is trained on a CPU.
  model: { training: 'full', dtype: 'float32', device: 'cpu' },
  // Two cells are trained at once on two cores.
  resources: { threads: 1 },
  // The exported graph plays afterwards, at the same precision as the start model.
  export: { onnx: ['fp32'] },
  // The paper pairs first successes only, of which a small collection has too few.
  data: { held_out: 0.05, pairing: 'all' },
  critic: {
    learning_rate: 3e-4,
    batch: 16,
    // The checkpoint with the highest held-out pair accuracy is kept.
    epochs: 8,
    beta: 3,
    nll: 0.1,
    max_tokens: 1024,
    evaluate_every: 50,
  },
  candidates: { per_turn: 8, pairs_per_turn: 4, max_new_tokens: 160 },
  policy: {
    learning_rate: 3e-4,
    batch: 32,
    epochs: 3,
    beta: 1,
    nll: 0.3,
    max_tokens: 1024,
    evaluate_every: 50,
  },
};

/**
 * The strength of the preference and of its regularization. A small β needs a large NLL; otherwise texts that were
 * never sampled gain probability (docs/decisions).
 */
const equal: Setting = { name: 'β 0.3, NLL 1', fields: { policy: { beta: 0.3, nll: 1 } } };
const strict: Setting = { name: 'β 1, NLL 0.3', fields: { policy: { beta: 1, nll: 0.3 } } };

const ONLY: Setting = { name: '–', fields: {} };

/** Distillation's optimiser: each dialogue is read five times at the rate of the start's own training. */
const distilled: RunFields = {
  method: 'distill',
  distill: { learning_rate: 1e-3, batch: 16, epochs: 5, patience: 0, max_tokens: 1024, evaluate_every: 50 },
};

export const methods: readonly Method[] = [
  {
    ...{ name: 'zero-shot', role: 'anchor', about: 'The start itself.', settings: [ONLY] },
    uses: [],
    agent: ({ start }) => start,
  },
  {
    ...{ name: 'rft', role: 'other' },
    about: 'Rejection fine-tuning: imitates the dialogues that succeeded.',
    fields: { method: 'rft' },
    settings: [
      { name: 'lr 1e-3', fields: { policy: { learning_rate: 1e-3 } } },
      { name: 'lr 2e-3', fields: { policy: { learning_rate: 2e-3 } } },
    ],
  },
  {
    ...{ name: 'multiturn-dpo', role: 'anchor' },
    about: 'DPO on whole dialogues of a task, a success against a lower reward.',
    // There is one pair where SWEET-RL has dozens of turns: two epochs or a lower rate were not enough to converge
    // (docs/decisions/settings-of-small-models.md).
    fields: {
      method: 'multiturn-dpo',
      data: { pairing: 'successes' },
      policy: { epochs: 4, learning_rate: 1e-3 },
    },
    // Both sides contain an answer here, so that a small NLL suffices to keep it.
    settings: [{ name: 'β 0.1, NLL 0.5', fields: { policy: { beta: 0.1, nll: 0.5 } } }, equal],
  },
  {
    ...{ name: 'sweet-rl', role: 'anchor' },
    about:
      'SWEET-RL, retuned for this start: turns ranked by a critic that knows the hidden information. Objectives are those of the paper; pairs, candidates, epochs, β and NLL are not.',
    fields: { method: 'sweet-rl' },
    settings: [equal, strict],
  },
  {
    ...{ name: 'distill', role: 'new' },
    about:
      'Distillation: the start, which reads the hidden information only to choose what it asks, teaches itself without it. One dialogue of each task.',
    fields: distilled,
    rollouts: 1,
    settings: [
      { name: 'η 4', fields: { distill: { eta: 4 } } },
      { name: 'η 2', fields: { distill: { eta: 2 } } },
    ],
  },
  {
    ...{ name: 'distill-twice', role: 'new' },
    about:
      'Distillation in two rounds: half of the dialogues are of the start, half of the student of these. It is taught at the histories that it reaches itself.',
    fields: distilled,
    ...{ rollouts: 1, rounds: 2 },
    settings: [{ name: 'η 4', fields: { distill: { eta: 4 } } }],
  },
  {
    ...{ name: 'distill-few-tasks', role: 'other' },
    about: 'Distillation of the same dialogues that the others learn from, several of each task.',
    fields: distilled,
    settings: [{ name: 'η 4', fields: { distill: { eta: 4 } } }],
  },
  {
    ...{ name: 'grpo', role: 'other' },
    about:
      'GRPO by TRL: new dialogues with the simulator in every step, in all as many as the others learn from, and of the same tasks.',
    fields: {
      method: 'grpo',
      data: { held_out: 0 },
      // Groups half the default size, so that 4 dialogues a task play every task; steps half the size, because there are
      // few dialogues: 600 make 38 of them.
      grpo: { tasks_per_step: 4, group: 4 },
    },
    settings: [
      { name: 'lr 1e-3', fields: { grpo: { learning_rate: 1e-3 } } },
      { name: 'lr 2e-3', fields: { grpo: { learning_rate: 2e-3 } } },
    ],
  },
  {
    ...{ name: 'archer', role: 'other' },
    about:
      'ArCHer: a critic with target networks values turns, and the policy follows it token by token; of the dialogues alone, without new ones.',
    // As in its first figures (docs/methods.md).
    fields: {
      method: 'archer',
      archer: {
        ...{ iterations: 1, critic_learning_rate: 1e-3, hidden_information: true },
        ...{ max_tokens: 1024, max_new_tokens: 160 },
      },
    },
    settings: [
      { name: 'lr 1e-4', fields: { archer: { learning_rate: 1e-4 } } },
      { name: 'lr 5e-4', fields: { archer: { learning_rate: 5e-4 } } },
    ],
  },
  {
    ...{ name: 'mixture', role: 'other' },
    about:
      'Two models sample two turns each, and the critic without hidden information chooses: four times the tokens of the others at play.',
    uses: ['distill', 'sweet-rl', 'no-hidden-information'],
    agent: ({ model, critic }) =>
      `mixture:local:${model('distill')}+local:${model('sweet-rl')},critic=${critic('no-hidden-information')},n=2`,
    settings: [ONLY],
  },
  {
    ...{ name: 'untrained-score', role: 'other' },
    about:
      'Turns ranked by how much the hidden information raises their probability under the start: no critic is trained.',
    fields: { method: 'sweet-rl', critic: { score: 'untrained' } },
    settings: [equal, strict],
  },
  {
    ...{ name: 'monte-carlo', role: 'other' },
    about:
      'Turns ranked by dialogues that the start and the simulator play to their end after each: no critic is trained.',
    // Samples cost time; four tell a candidate that mostly succeeds from one that seldom does.
    fields: { method: 'sweet-rl', critic: { score: 'monte-carlo', samples: 4 } },
    settings: [equal],
  },
  {
    ...{ name: 'no-hidden-information', role: 'other' },
    about: 'SWEET-RL with a critic that sees what the agent sees.',
    fields: { method: 'sweet-rl', critic: { hidden_information: false } },
    settings: [equal],
  },
  {
    ...{ name: 'reference-code', role: 'other' },
    about:
      'SWEET-RL by the formulas of the published code: means over all tokens, and a reference without the hidden information.',
    fields: { method: 'sweet-rl', convention: 'reference-code' },
    settings: [equal],
  },
  {
    ...{ name: 'no-length-normalisation', role: 'other' },
    about: "SWEET-RL with sums of a turn's log-ratios in place of their means.",
    fields: { method: 'sweet-rl', critic: { length_normalisation: false } },
    settings: [equal],
  },
  {
    ...{ name: 'value-head', role: 'other' },
    about: 'SWEET-RL with a regression of the reward in place of log-ratios.',
    fields: { method: 'sweet-rl', critic: { score: 'value-head' } },
    settings: [equal],
  },
];
