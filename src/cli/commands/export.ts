import path from 'node:path';
import { Option } from 'commander';
import { rendering } from '../../core/dialogue/conversation';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import { Prompts } from '../../core/dialogue/prompts';
import {
  ExportRefused,
  exportTrajectories,
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  type Finding,
  PAIRINGS,
  type Pairing,
  type Selection,
} from '../../core/trajectory/export/export';
import { FORMAT_IDS, formatOf } from '../../core/trajectory/export/formats';
import { doubtInWords } from '../../core/trajectory/export/selection';
import { findingInWords } from '../../core/trajectory/findings/words';
import { present } from '../../core/text';
import { fraction, type Install, type CommandResult, type CliContext, refuseToReplace } from '../command';
import { openLog } from '../resources';
import { dataOption, modeOption } from '../play';
import { Progress, say } from '../terminal';

interface Options extends Selection {
  readonly format: ExportFormat['format'];
  readonly data: string;
  readonly prompts?: string;
  readonly pairs: Pairing;
  readonly overwrite?: boolean;
  readonly allowFindings?: boolean;
  readonly withoutFindings?: boolean;
}

export const installExport: Install = (program, perform) => {
  program
    .command('export')
    .description('write finished trajectories as rows, with a dataset card beside them')
    .argument('<out>', 'the file to write: JSON lines, for inspect one .json')
    .addOption(
      new Option('--format <format>', 'what a row is; the card says how to read it')
        .choices(FORMAT_IDS)
        .makeOptionMandatory(),
    )
    .addOption(dataOption())
    .addOption(modeOption())
    .addOption(
      new Option(
        '--pairs <pairing>',
        'preferences: the paper’s pairs, each success with every lower one, or every better with every worse',
      )
        .choices(PAIRINGS)
        .default('paper'),
    )
    .option('--only-success', 'only trajectories that pass all tests')
    .option('--only-accepted', 'only trajectories that a person accepted in a review')
    .option('--min-reward <r>', 'only trajectories with at least this reward', fraction('--min-reward'))
    .option('--overwrite', 'replace a file of that name')
    .option('--with-leaked', 'include dialogues in which a reply gave the reference away')
    .option('--with-evaluations', 'include dialogues that were played to evaluate an agent')
    .option('--with-redo', 'include dialogues that a person wants to have redone')
    .option(
      '--with-editor-models',
      'include dialogues with VS Code models; their terms may forbid training on them',
    )
    .option(
      '--with-doubtful',
      'include dialogues that lines lost from the log may have deleted or marked as leaked, whatever consent was lost with them',
    )
    .addOption(
      new Option('--allow-findings', 'write secrets and e-mail addresses as they are').conflicts(
        'withoutFindings',
      ),
    )
    .option('--without-findings', 'leave out the dialogues that hold secrets or e-mail addresses')
    .option('--prompts <folder>', 'the folder with your own agent.md, or short, as used in the dialogues')
    .action(perform(exportRows));
};

async function exportRows(
  out: string,
  options: Options,
  { assets, signal }: CliContext,
): Promise<CommandResult> {
  refuseToReplace(out, options.overwrite);
  const prompts = await Prompts.load(path.join(assets, 'prompts'), options.prompts);
  const log = await openLog(options.data, signal);
  const progress = new Progress('export', 'trajectories');
  try {
    const result = await exportTrajectories(log, out, {
      ...options,
      ...rowFormat(options, prompts),
      findings: options.allowFindings ? 'write' : options.withoutFindings ? 'leave-out' : 'refuse',
      signal,
      onProgress: ({ done, total }) => progress.update(done, total),
    }).finally(() => progress.end());
    listFindings(result.findings);
    return {
      summary: result,
      print: () => inWords(result, options.format),
      failed: result.rows === 0,
    };
  } catch (error) {
    if (error instanceof ExportRefused) return refused(error);
    throw error;
  } finally {
    await log.close();
  }
}

/** Printed on stderr, so that stdout holds the result only. */
function listFindings(findings: readonly Finding[]): void {
  for (const finding of findings) say(findingInWords(finding));
}

function refused({ code, message, findings }: ExportRefused): CommandResult {
  listFindings(findings);
  const remedy =
    'Add --without-findings to leave these dialogues out, or --allow-findings to write them as they are.';
  return {
    summary: { refused: { code, message }, findings },
    print: () => `${message} ${remedy}`,
    failed: true,
  };
}

function rowFormat(
  { format, pairs }: Options,
  prompts: Prompts,
): ExportFormat & Pick<ExportOptions, 'sawAnotherPrompt'> {
  const rendered = rendering(format, prompts);
  switch (format) {
    case 'trajectories':
      return { format, visible: ({ agent }) => parseAgentMessage(agent.text).visible, ...rendered };
    case 'preferences':
      return { format, pairs, ...rendered };
    default:
      return { format, ...rendered };
  }
}

function inWords(result: ExportResult, format: Options['format']): string {
  const { rows, trajectories, ownCode, otherPrompts, leftOut, file, card, datasetInfo } = result;
  return present([
    rows === 0 && `There is nothing to export: a row needs ${formatOf(format).needs}.`,
    `${rows} rows from ${trajectories} trajectories: ${file}, described in ${card}.`,
    datasetInfo && `LLaMA-Factory finds them by ${datasetInfo}.`,
    ...Object.entries(leftOut).map(([reason, count]) => `Left out: ${count} ${reason}.`),
    leftOut.doubtful !== undefined && doubtInWords(leftOut.doubtful, '--with-doubtful'),
    ownCode > 0 &&
      `${ownCode} are about own code. The code after people's edits is left out: it stays on this machine.`,
    otherPrompts > 0 &&
      `${otherPrompts} were played with another agent.md; give it with --prompts to export what the agent saw.`,
  ]).join('\n');
}
