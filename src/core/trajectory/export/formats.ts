import type { Role } from '../searchTree';

interface Format {
  /** What a row is, for the dataset card and the preview. */
  readonly is: string;
  /** What a row needs, for an export without rows. */
  readonly needs: string;
  readonly needsReward?: true;
  /** True if rows have the whole task, with its hidden reference and tests. */
  readonly holdsTask?: true;
  /** Extension by which the reader knows the file; without one any will do, and `jsonl` is suggested. */
  readonly extension?: 'json' | 'jsonl';
  /** Tools that read the file as it is, with the lines by which they do. */
  readonly readers: readonly Reader[];
}

interface Reader {
  readonly tool: string;
  readonly language: 'python' | 'yaml' | 'bash';
  readonly lines: (file: string) => string;
}

/** In the order in which they are offered. */
const FORMATS = {
  trajectories: {
    is: 'whole trajectories (`task`, `dialogue_history`, `answer`, `reward`)',
    needs: 'a finished and graded dialogue',
    needsReward: true,
    holdsTask: true,
    readers: [],
  },
  chat: {
    is: 'fine-tuning rows (`messages`)',
    needs: 'a finished dialogue',
    readers: [trl('trl', 'SFTTrainer', 'SFTConfig')],
  },
  preferences: {
    is: 'preference rows of whole dialogues (`prompt`, `chosen`, `rejected`)',
    needs: 'a better and a worse dialogue of the same task: collect with --rollouts above 1',
    needsReward: true,
    readers: [trl('trl', 'DPOTrainer', 'DPOConfig')],
  },
  choices: {
    is: 'preference rows of single turns, chosen by people (`prompt`, `chosen`, `rejected`)',
    needs: 'a finished dialogue in which a person chose one of two candidates',
    readers: [trl('trl', 'DPOTrainer', 'DPOConfig')],
  },
  unpaired: {
    is: 'unpaired preference rows of single turns, the thumbs of people (`prompt`, `completion`, `label`)',
    needs: 'a finished dialogue in which a person gave a thumb to a message of the agent',
    readers: [trl('trl.experimental.kto', 'KTOTrainer', 'KTOConfig')],
  },
  feedback: {
    is: 'rows of what people left on turns of the agent, for the trainer (`prompt`, then `completion` with `label` or `reward`, or `chosen` and `rejected`)',
    needs:
      'a finished dialogue in which a person gave a thumb or a verdict, chose, or took or rejected an answer',
    readers: [],
  },
  stepwise: {
    is: 'stepwise supervision, the verdicts of people on a critic (`prompt`, `completions`, `labels`)',
    needs: 'a finished dialogue in which a person agreed or disagreed with what a critic says of a turn',
    readers: [axolotl(['type: stepwise_supervised'], ['process_reward_model: true', 'num_labels: 2'])],
  },
  replies: {
    is: 'fine-tuning rows of the collaborator: the prompt of a simulator, and the reply of a person (`messages`)',
    needs: 'a finished and graded dialogue about a function in which a person replied',
    needsReward: true,
    holdsTask: true,
    readers: [trl('trl', 'SFTTrainer', 'SFTConfig')],
  },
  edits: {
    is: 'preference rows of the collaborator: a suggestion as a person edited it, and as it was (`prompt`, `chosen`, `rejected`)',
    needs: 'a finished dialogue about a function in which a person edited a suggested reply',
    holdsTask: true,
    readers: [trl('trl', 'DPOTrainer', 'DPOConfig')],
  },
  generator: ofRole('generator'),
  verifier: ofRole('verifier'),
  refiner: ofRole('refiner'),
  'llamafactory-sft': {
    is: 'fine-tuning rows of LLaMA-Factory (`messages`)',
    needs: 'a finished dialogue',
    extension: 'jsonl',
    readers: [llamaFactory('sft')],
  },
  'llamafactory-ranking': {
    is: 'ranking rows of LLaMA-Factory, turns chosen by people (`messages`, `chosen`, `rejected`)',
    needs: 'a finished dialogue in which a person chose one of two candidates',
    extension: 'jsonl',
    readers: [llamaFactory('dpo')],
  },
  'axolotl-sft': {
    is: 'fine-tuning rows of Axolotl (`messages`)',
    needs: 'a finished dialogue',
    readers: [axolotl(['type: chat_template'])],
  },
  'axolotl-dpo': {
    is: 'preference rows of Axolotl, turns chosen by people (`messages`, `chosen`, `rejected`)',
    needs: 'a finished dialogue in which a person chose one of two candidates',
    readers: [axolotl(['type: chat_template.default'], ['rl: dpo'])],
  },
  atif: {
    is: 'trajectories in the Agent Trajectory Interchange Format (`agent`, `steps`, `final_metrics`)',
    needs: 'a finished dialogue',
    readers: [
      {
        ...{ tool: 'Harbor', language: 'python' },
        lines: (file) =>
          [
            'from harbor.models.trajectories import Trajectory',
            '',
            `with open(${JSON.stringify(file)}, encoding="utf-8") as rows:`,
            '    trajectories = [Trajectory.model_validate_json(row) for row in rows]',
          ].join('\n'),
      },
    ],
  },
  sts: {
    is: 'session traces of the Hugging Face Hub (a header line with `harness`, then a line for each message)',
    needs: 'a finished dialogue',
    extension: 'jsonl',
    readers: [
      {
        ...{ tool: 'Hugging Face Hub', language: 'bash' },
        // The viewer of the Hub takes a file for one session.
        lines: (file) =>
          `awk '/^{"type":"session"/ { n++ } { print > ("session-" n ".jsonl") }' ${JSON.stringify(file)}`,
      },
    ],
  },
  inspect: {
    is: 'one log of Inspect AI, a sample for each dialogue',
    needs: 'a finished dialogue',
    holdsTask: true,
    extension: 'json',
    readers: [
      {
        ...{ tool: 'Inspect AI', language: 'python' },
        lines: (file) =>
          `from inspect_ai.log import read_eval_log\n\nlog = read_eval_log(${JSON.stringify(file)})`,
      },
    ],
  },
} as const satisfies Record<string, Format>;

export type FormatId = keyof typeof FORMATS;

export const FORMAT_IDS = Object.keys(FORMATS) as FormatId[];

export const formatOf = (id: FormatId): Format => FORMATS[id];

export const extensionOf = (id: FormatId): 'json' | 'jsonl' => formatOf(id).extension ?? 'jsonl';

/** The file's name without its extension and without commas, as LLaMA-Factory names it. */
export const datasetName = (file: string): string => file.replace(/\.[^.]*$/, '').replaceAll(',', '-');

function ofRole(role: Role): Format {
  return {
    is: `preference rows of the ${role} in search trees, good and bad outputs after the same messages (\`prompt\`, \`chosen\`, \`rejected\`)`,
    needs: `a search tree with a good and a bad output of the ${role}: collect with --tree`,
    needsReward: true,
    readers: [trl('trl', 'DPOTrainer', 'DPOConfig')],
  };
}

function trl(module: string, trainer: string, config: string): Reader {
  return {
    tool: 'TRL',
    language: 'python',
    lines: (file) =>
      [
        'from datasets import load_dataset',
        `from ${module} import ${config}, ${trainer}`,
        '',
        `rows = load_dataset("json", data_files=${JSON.stringify(file)}, split="train")`,
        `${trainer}(model="…", args=${config}(), train_dataset=rows).train()`,
      ].join('\n'),
  };
}

function axolotl(dataset: readonly string[], above: readonly string[] = []): Reader {
  return {
    tool: 'Axolotl',
    language: 'yaml',
    lines: (file) =>
      [
        ...above,
        'datasets:',
        `  - path: ${JSON.stringify(file)}`,
        '    ds_type: json',
        '    split: train',
        ...dataset.map((line) => `    ${line}`),
      ].join('\n'),
  };
}

function llamaFactory(stage: 'sft' | 'dpo'): Reader {
  return {
    tool: 'LLaMA-Factory',
    language: 'yaml',
    lines: (file) =>
      [
        `stage: ${stage}`,
        'dataset_dir: .  # the folder of this file and of dataset_info.json',
        `dataset: ${JSON.stringify(datasetName(file))}`,
      ].join('\n'),
  };
}
