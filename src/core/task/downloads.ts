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
  /** The folder lies in the cache of this user by default, not in the current folder. */
  readonly isShared?: boolean;
  /** Of a file that is made here from some rows of the repository's Parquet files. */
  readonly rows?: RowRange;
}

export interface RowRange {
  /** Folder of the Parquet files in the repository; their rows are counted in the order of their names. */
  readonly folder: string;
  readonly first: number;
  /** The row after the last one. */
  readonly end: number;
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

const attribution: Licence = {
  name: 'Creative Commons Attribution 4.0 (CC BY 4.0)',
  url: 'https://creativecommons.org/licenses/by/4.0/legalcode',
  summary: [
    'You may copy, share and adapt the data, also commercially.',
    'You must name the creators (HuggingFaceM4, WebSight), link to the license and say what you changed.',
    'Tandem changes the addresses of pictures, as ColBench does, and takes two of the columns.',
  ],
};

const clipLicence: Licence = {
  name: 'MIT License, Copyright (c) 2021 OpenAI',
  url: 'https://github.com/openai/CLIP/blob/main/LICENSE',
  summary: [
    'You may use, copy, change and pass on the model if the copyright notice and the license stay with it.',
    'The license is that of openai/CLIP; the repository with the converted weights names none of its own.',
    'The model card of CLIP calls it a research output, and any deployed use out of scope.',
  ],
};

const clip = {
  repository: 'Xenova/clip-vit-base-patch32',
  licences: [clipLicence],
  isShared: true,
};

const webSight = {
  repository: 'datasets/HuggingFaceM4/WebSight',
  folder: 'websight',
  licences: [attribution],
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
  'frontend-train': {
    ...webSight,
    files: ['frontend-train.jsonl'],
    about: 'web pages of ColBench for training',
    rows: { folder: 'v0.2', first: 0, end: 10_000 },
  },
  'frontend-test': {
    ...webSight,
    files: ['frontend-test.jsonl'],
    about: 'web pages of ColBench for evaluation',
    rows: { folder: 'v0.2', first: 10_000, end: 20_000 },
  },
  clip: {
    ...clip,
    files: ['onnx/vision_model.onnx'],
    folder: 'clip',
    about: 'CLIP, for the published measure of web pages, 352 MB',
  },
  'clip-int8': {
    ...clip,
    files: ['onnx/vision_model_quantized.onnx'],
    folder: 'clip-int8',
    about: 'the same quantized, 89 MB, whose scores are another measure',
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
