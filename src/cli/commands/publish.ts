import { Option } from 'commander';
import { Fault } from '../../core/fault';
import type { Publication } from '../../core/publish/publication';
import { grouped } from '../../core/text';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { say, confirmed, Progress } from '../terminal';

interface Options {
  readonly public?: boolean;
  readonly yes?: boolean;
  readonly allowFindings?: boolean;
  readonly withLocal?: boolean;
  readonly hub?: string;
}

export const installPublish: Install = (program, perform) => {
  program
    .command('publish')
    .description('put exported rows or a trained model on the Hugging Face Hub, with their card')
    .argument('<what>', 'rows that "tandem export" wrote, or the folder of a model')
    .argument('<repository>', 'owner/name on the hub; it is made when there is none')
    .option('--public', 'everyone may read it (without this, only its owner)')
    .option('--yes', 'publish what is listed without being asked')
    .option('--allow-findings', 'publish secrets, e-mail addresses and what cannot be searched as they are')
    .option('--with-local', 'publish a model that learned from dialogues that people keep on this machine')
    .addOption(new Option('--hub <url>', 'another server that speaks the hub’s protocol'))
    .action(perform(publish));
};

async function publish(
  what: string,
  repository: string,
  options: Options,
  { signal }: CliContext,
): Promise<CommandResult> {
  // Imported here because the hub's client is large and few commands need it.
  const [{ publicationOf }, { upload }] = await Promise.all([
    import('../../core/publish/publication'),
    import('../../core/publish/upload'),
  ]);
  const publication = await publicationOf(what, signal);
  refuse(publication, options);
  for (const { path, bytes } of publication.files) say(`${path}  ${grouped(bytes)} bytes`);
  const who = options.public === true ? 'for everybody to read' : 'for its owner alone';
  if (options.yes !== true) {
    if (!process.stdin.isTTY) throw wrongUse('Nothing is published yet: check the list, then add --yes.');
    if (!(await confirmed(`Publish these as the ${publication.kind} ${repository}, ${who}?`)))
      return { summary: { published: false }, print: () => 'Nothing is published.', failed: true };
  }
  using progress = new Progress('publish', 'bytes');
  const published = await upload(publication, {
    repository,
    isPublic: options.public === true,
    accessToken: process.env.HF_TOKEN,
    hubUrl: options.hub,
    signal,
    onProgress: ({ done, total }) => progress.update(done, total),
    onNotice: say,
  });
  const { url, commit, isPrivate } = published;
  return {
    summary: {
      ...published,
      kind: publication.kind,
      files: publication.files.length,
      bytes: publication.bytes,
    },
    print: () =>
      `Published: ${url}, commit ${commit}, which ${isPrivate ? 'only its owner' : 'everybody'} can read.`,
  };
}

function refuse({ findings, keptLocal }: Publication, options: Options): void {
  for (const { path, line, what, excerpt } of findings)
    say(`${path}${line === undefined ? '' : `, line ${line}`}: ${what}: ${excerpt}`);
  if (findings.length > 0 && options.allowFindings !== true)
    throw new Fault(
      'publish/findings',
      `Nothing is published, because of the findings above: ${findings.length}. Take them out, or add --allow-findings.`,
    );
  if (keptLocal > 0 && options.withLocal !== true)
    throw new Fault(
      'publish/local-data',
      `Nothing is published: the model learned from ${keptLocal} dialogues that people keep on this machine, and may repeat them. Ask them, then add --with-local.`,
    );
}
