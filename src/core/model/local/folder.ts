import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { Fault } from '../../fault';
import { readBytesSync } from '../../regularFile';
import { wordsIn } from '../../text';
import { readJson, notGguf, onlyGguf } from './files';
import { isOfOtherWeights } from './weights';

/** Hugging Face's layout for ONNX models. */
export interface LocalFolder {
  readonly folder: string;
  readonly graph: string;
  /** Read from the file's name: `fp32`, `int8`, `int4`, `q4` … */
  readonly precision: string;
  /** Class name, e.g. `LlamaForCausalLM`. */
  readonly architecture: string;
  /** Each weight counted once, without biases. */
  readonly parameters: number;
  /** Graph and weights. */
  readonly bytes: number;
  readonly contextLength: number;
  /** Equal for equal weights and tokenizer. */
  readonly fingerprint: string;
}

const size = z.int().positive();

const configForm = z.object({
  architectures: z.array(z.string()).min(1),
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  max_position_embeddings: size,
  tie_word_embeddings: z.boolean().nullish(),
});

type Config = z.infer<typeof configForm>;

/** Up to this many bytes a full-precision graph is as fast as a quantised one, and exact. */
const SMALL_GRAPH = 64 * 2 ** 20;

/** The most precise first. */
const QUANTISED = ['int8', 'quantized', 'int4', 'q4'] as const;

/** Bytes; of larger files, size and modification time are hashed. */
const HASHED_WHOLE = 32 * 2 ** 20;

/**
 * Does not load the model.
 * @param place the folder, or one graph in its `onnx/`
 * @throws {Fault} `model/no-folder`, `model/not-exported`, `model/damaged-folder`, `model/foreign-folder`
 */
export function readLocalFolder(place: string): LocalFolder {
  const absolute = path.resolve(place);
  const named = absolute.endsWith('.onnx') ? absolute : undefined;
  const folder = named === undefined ? absolute : folderOf(named);
  const gguf = onlyGguf(folder);
  if (gguf !== undefined) throw new Fault('model/foreign-folder', notGguf(gguf));
  requireFile(folder, 'config.json');
  const graph = named ?? chooseGraph(folder);
  if (!existsSync(graph)) throw new Fault('model/no-folder', `There is no graph ${graph}.`);
  if (isOfOtherWeights(folder, graph)) throw otherWeights(folder, graph);
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) requireFile(folder, name);
  const config = readConfig(folder);
  const weights = [graph, ...externalData(graph)];
  return {
    folder,
    graph,
    precision: /^model_(.+)\.onnx$/.exec(path.basename(graph))?.[1] ?? 'fp32',
    architecture: config.architectures[0]!,
    parameters: countParameters(config),
    bytes: total(weights),
    contextLength: config.max_position_embeddings,
    fingerprint: digest([...weights, ...smallFiles(folder)]),
  };
}

const folderOf = (graph: string): string => {
  const parent = path.dirname(graph);
  return path.basename(parent) === 'onnx' ? path.dirname(parent) : parent;
};

function requireFile(folder: string, name: string): void {
  if (existsSync(path.join(folder, name))) return;
  if (!existsSync(folder)) throw new Fault('model/no-folder', `There is no model folder ${folder}.`);
  throw new Fault(
    'model/foreign-folder',
    `${folder} is not a model folder: it has no ${name}. Name the folder that training or a download made.`,
  );
}

function chooseGraph(folder: string): string {
  const graphs = graphsIn(folder);
  // A graph made from older weights is used only if no graph matches the present ones.
  const found = graphs.find((graph) => !isOfOtherWeights(folder, graph)) ?? graphs[0];
  if (found !== undefined) return found;
  throw new Fault(
    'model/not-exported',
    `${folder} has no graph in onnx/ that Tandem can run. Make one with: tandem onnx ${folder}`,
  );
}

/** The best first. */
function graphsIn(folder: string): string[] {
  const file = (suffix: string): string => path.join(folder, 'onnx', `model${suffix}.onnx`);
  const full = file('');
  const quantised = QUANTISED.map((precision) => file(`_${precision}`));
  const fits = existsSync(full) && total([full, ...externalData(full)]) <= SMALL_GRAPH;
  return (fits ? [full, ...quantised] : [...quantised, full]).filter((graph) => existsSync(graph));
}

export function otherWeights(folder: string, graph: string): Fault {
  return new Fault(
    'model/not-exported',
    `${graph} was made from other weights than those that are in ${folder} now. Make it again with: tandem onnx ${folder}`,
  );
}

/** `model.onnx_data`, `model.onnx.data`, `model.onnx_data_1` beside a graph contain its weights. */
function externalData(graph: string): string[] {
  const name = path.basename(graph);
  return readdirSync(path.dirname(graph))
    .filter((other) => other.startsWith(`${name}_data`) || other.startsWith(`${name}.data`))
    .sort()
    .map((other) => path.join(path.dirname(graph), other));
}

const total = (files: readonly string[]): number =>
  files.reduce((bytes, file) => bytes + statSync(file).size, 0);

function readConfig(folder: string): Config {
  const config = configForm.safeParse(readJson(folder, 'config.json'));
  if (config.success) return config.data;
  const [issue] = config.error.issues;
  throw new Fault(
    'model/foreign-folder',
    `${path.join(folder, 'config.json')} describes no model that Tandem can run (${issue!.path.join('.')}: ${issue!.message}). It runs decoders like Llama and Qwen.`,
  );
}

function countParameters(config: Config): number {
  const { hidden_size: d, num_attention_heads: heads, num_hidden_layers: layers } = config;
  const headSize = config.head_dim ?? d / heads;
  const attention = 2 * d * headSize * (heads + (config.num_key_value_heads ?? heads));
  const layer = attention + 3 * d * config.intermediate_size + 2 * d;
  const tables = config.tie_word_embeddings === true ? 1 : 2;
  return layers * layer + tables * d * config.vocab_size + d;
}

const SMALL_FILES = wordsIn(`
  config.json generation_config.json tokenizer.json tokenizer_config.json special_tokens_map.json chat_template.jinja
`);

const smallFiles = (folder: string): string[] =>
  SMALL_FILES.map((name) => path.join(folder, name)).filter((file) => existsSync(file));

function digest(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const { size: bytes, mtimeMs } = statSync(file);
    hash.update(`\n${path.basename(file)} ${bytes}\n`);
    hash.update(bytes <= HASHED_WHOLE ? readBytesSync(file, HASHED_WHOLE) : String(mtimeMs));
  }
  return hash.digest('hex').slice(0, 16);
}
