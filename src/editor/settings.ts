// `package.json` is written from here by `npx vitest run -u --project unit test/unit/editor/manifest.test.ts`. The
// order is that of the settings editor; the English descriptions are in `package.nls.json`, as `setting.` and the name.

import { boundsOf } from '../core/numberRange';
import { eachSamplingNumber, samplingEntries, type SamplingName } from '../core/samplingSettings';

interface Declaration {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  readonly default: unknown;
  readonly scope?: 'resource' | 'window' | 'machine-overridable';
  /** True when an untrusted workspace's own value does not count. */
  readonly isRestricted?: true;
  /** Possible values; their descriptions are in `package.nls.json`, under the name of the setting and the value. */
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly patternErrorMessage?: string;
  readonly items?: object;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
}
type Group = Readonly<Record<string, Declaration>>;

const samplingSettings = Object.fromEntries(
  samplingEntries.map(([name, setting]) => {
    const { type, default: value, editor } = setting;
    return [`sampling.${name}`, { type, default: value, ...boundsOf({ ...setting, ...editor }) }];
  }),
) as Readonly<Record<`sampling.${SamplingName}`, Declaration & { readonly type: 'number' | 'integer' }>>;

const AGENT_PATTERN =
  '^\\s*(starter(-pages|-questions)?|(local|openai|vscode|script|mixture|refine):\\S.*)?\\s*$';

const models = {
  agent: {
    type: 'string',
    default: '',
    scope: 'resource',
    pattern: AGENT_PATTERN,
    patternErrorMessage: '%setting.agent.pattern%',
    isRestricted: true,
  },
  simulator: {
    type: 'string',
    default: 'rules',
    scope: 'resource',
    pattern: '^\\s*(rules|(specification:)?(local|openai|vscode|script):\\S.*)?\\s*$',
    patternErrorMessage: '%setting.simulator.pattern%',
    isRestricted: true,
  },
  ...samplingSettings,
  'model.firstTokenSeconds': { type: 'number', default: 120, minimum: 1, maximum: 3600 },
  'model.totalSeconds': { type: 'number', default: 600, minimum: 1, maximum: 86400 },
  modelFolders: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    scope: 'resource',
    uniqueItems: true,
    isRestricted: true,
  },
  servers: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name', 'baseUrl', 'model'],
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, description: '%setting.servers.name%' },
        baseUrl: {
          type: 'string',
          pattern: '^https?://',
          description: '%setting.servers.baseUrl%',
          patternErrorMessage: '%setting.servers.baseUrl.pattern%',
        },
        model: { type: 'string', minLength: 1, description: '%setting.servers.model%' },
        sampling: {
          type: 'object',
          additionalProperties: false,
          description: '%setting.servers.sampling%',
          properties: eachSamplingNumber((name, setting) => ({
            type: setting.type,
            ...boundsOf(setting),
            description: `%setting.servers.sampling.${name}%`,
          })),
        },
        price: {
          type: 'object',
          required: ['prompt', 'completion'],
          additionalProperties: false,
          description: '%setting.servers.price%',
          properties: {
            prompt: { type: 'number', minimum: 0, description: '%setting.servers.price.prompt%' },
            completion: { type: 'number', minimum: 0, description: '%setting.servers.price.completion%' },
          },
        },
      },
    },
    default: [],
    scope: 'window',
    isRestricted: true,
  },
} as const satisfies Group;

const dialogue = {
  'protocol.maxTurns': { type: 'integer', default: 10, minimum: 1, maximum: 200 },
  'protocol.replyLimit': { type: 'integer', default: 400, minimum: 20, maximum: 10000 },
  'protocol.promptFolder': { type: 'string', default: '', scope: 'resource', isRestricted: true },
  'session.openReference': { type: 'boolean', default: true },
  'session.openGuidelines': { type: 'boolean', default: true },
  'session.showCounters': { type: 'boolean', default: true },
  'collaboration.survivalMinutes': { type: 'number', default: 5, minimum: 0, maximum: 1440 },
} as const satisfies Group;

const candidates = {
  'candidates.show': { type: 'boolean', default: false },
  'candidates.secondAgent': {
    type: 'string',
    default: '',
    scope: 'resource',
    pattern: AGENT_PATTERN,
    patternErrorMessage: '%setting.agent.pattern%',
    isRestricted: true,
  },
} as const satisfies Group;

const grading = {
  'grading.mode': { type: 'string', enum: ['fixed', 'paper'], default: 'fixed' },
  'grading.workers': { type: 'integer', default: 0, minimum: 0, maximum: 64 },
  'pages.browser': { type: 'string', default: '', scope: 'machine-overridable', isRestricted: true },
  'grading.timeFactor': { type: 'number', default: 10, minimum: 1, maximum: 1000 },
  'grading.timeFloorMilliseconds': { type: 'integer', default: 1000, minimum: 10, maximum: 60000 },
  'grading.timeCeilingMilliseconds': { type: 'integer', default: 5000, minimum: 10, maximum: 600_000 },
} as const satisfies Group;

const training = {
  'training.python': { type: 'string', default: '', scope: 'machine-overridable', isRestricted: true },
} as const satisfies Group;

const tasksAndLog = {
  packs: {
    type: 'array',
    items: {
      type: 'string',
      minLength: 1,
      pattern: '\\.jsonl$',
      patternErrorMessage: '%setting.packs.pattern%',
    },
    default: ['**/*.jsonl'],
    scope: 'resource',
    uniqueItems: true,
    minItems: 1,
  },
  dataFolder: {
    type: 'string',
    default: '.tandem',
    scope: 'resource',
    pattern: '\\S',
    patternErrorMessage: '%setting.dataFolder.pattern%',
    isRestricted: true,
  },
} as const satisfies Group;

export const settings = { models, dialogue, candidates, grading, training, tasksAndLog };

type Declared = typeof models &
  typeof dialogue &
  typeof candidates &
  typeof grading &
  typeof training &
  typeof tasksAndLog;

type ValueOf<Setting> = Setting extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Setting extends { readonly type: 'string' }
    ? string
    : Setting extends { readonly type: 'boolean' }
      ? boolean
      : Setting extends { readonly type: 'array' }
        ? string[]
        : number;

/** Type of each setting's value; in the manifest the names begin with `tandem.`. */
export type Settings = {
  [Name in Exclude<keyof Declared, 'servers'>]: ValueOf<Declared[Name]>;
} & { servers: unknown[] };
