/** One set of terms that apply to the published data. */
interface LicenceTerms {
  readonly name: string;
  readonly url: string;
  /** Facts about the terms, not advice. */
  readonly summary: readonly string[];
}

/** The notice that a person reads and accepts before anything is fetched. */
export interface LicenceNotice {
  readonly dataset: string;
  readonly file: string;
  readonly terms: readonly LicenceTerms[];
  /** The whole notice as plain text, for a terminal or a dialogue. */
  readonly text: string;
}

const creativeCommons: LicenceTerms = {
  name: 'Creative Commons Attribution-NonCommercial 4.0 (CC BY-NC 4.0)',
  url: 'https://creativecommons.org/licenses/by-nc/4.0/legalcode',
  summary: [
    'You may copy, share and adapt the data for purposes that are not commercial.',
    'You must name the creators, link to the licence and say what you changed.',
    'The data comes without any warranty.',
  ],
};

const llama: LicenceTerms = {
  name: 'Llama 3.1 Community License',
  url: 'https://www.llama.com/llama3_1/license/',
  summary: [
    'The publishers state that the data is output of Llama 3.1 and subject to this licence.',
    'The name of a model that is trained or improved with such output and made available to others must begin with "Llama".',
    'Whoever passes on Llama materials, or a product that contains them, adds a copy of the licence and shows "Built with Llama".',
    'The acceptable use policy of Llama 3.1 applies; the largest services need a licence of their own from Meta.',
  ],
};

/** Returns the notice for one published file. All files stand under both sets of terms. */
export function licenceNotice(dataset: string, file: string): LicenceNotice {
  const terms = [creativeCommons, llama];
  const text = [
    `${file} belongs to the dataset ${dataset}, published by its authors on the Hugging Face Hub.`,
    'It is research data under these terms:',
    ...terms.flatMap(({ name, url, summary }) => ['', name, url, ...summary.map((fact) => `- ${fact}`)]),
    '',
    'Tandem gives a summary; the licences themselves are what counts.',
  ].join('\n');
  return { dataset, file, terms, text };
}
