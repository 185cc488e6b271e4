interface Licence {
  readonly name: string;
  readonly url: string;
  /** Facts about the terms, not advice. */
  readonly summary: readonly string[];
}

export interface HubFiles {
  /** As in the hub's addresses: `datasets/owner/name`, or `owner/name` of a model. */
  readonly repository: string;
  /** A commit, tag or branch; `main` by default. */
  readonly revision?: string;
  readonly files: readonly string[];
  readonly about: string;
  readonly folder: string;
  readonly licences: readonly Licence[];
}

const creativeCommons: Licence = {
  name: 'Creative Commons Attribution-NonCommercial 4.0 (CC BY-NC 4.0)',
  url: 'https://creativecommons.org/licenses/by-nc/4.0/legalcode',
  summary: [
    'You may copy, share and adapt the data for noncommercial purposes.',
    'You must name the creators, link to the license and say what you changed.',
    'The data comes without any warranty.',
  ],
};

const llama: Licence = {
  name: 'Llama 3.1 Community License',
  url: 'https://www.llama.com/llama3_1/license/',
  summary: [
    'The publishers state that the data is output of Llama 3.1 and subject to this license.',
    'The name of a model that is trained or improved with such output and made available to others must begin with "Llama".',
    'If you pass on Llama materials, or a product that contains them, add a copy of the license and show "Built with Llama".',
    'The acceptable use policy of Llama 3.1 applies; the largest services need a license of their own from Meta.',
  ],
};

const colbench = {
  repository: 'datasets/facebook/collaborative_agent_bench',
  folder: 'colbench',
  licences: [creativeCommons, llama],
};

export const DOWNLOADS = {
  train: { ...colbench, files: ['backend_tasks/train.jsonl'], about: 'ColBench tasks for training' },
  test: { ...colbench, files: ['backend_tasks/test.jsonl'], about: 'ColBench tasks for evaluation' },
  offline: {
    ...colbench,
    files: ['colbench_code_offline_15k_llama8b.jsonl'],
    about: 'ColBench trajectories',
  },
} satisfies Record<string, HubFiles>;

export function licenceNotice({ repository, files, licences }: HubFiles): string {
  return [
    `${files.join(', ')}: from ${repository} on the Hugging Face Hub, published by its authors under these terms:`,
    ...licences.flatMap(({ name, url, summary }) => ['', name, url, ...summary.map((fact) => `- ${fact}`)]),
    '',
    'This is a summary; only the licenses themselves count.',
  ].join('\n');
}
