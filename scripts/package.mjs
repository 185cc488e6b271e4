// npm run package: one VSIX per platform, each with that platform's native parts only.
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { ownTarget, targets } from './package/runtime.mjs';
import { ignoreFile, ownManifest, stage } from './package/stage.mjs';
import { run } from './setup/command.mjs';
import { commandLine } from './setup/options.mjs';
import { continueInProjectNode, root } from './setup/project.mjs';
import { SetupFault, main, step } from './setup/steps.mjs';

const help = `npm run package [-- TARGET…]

Makes packages/tandem-VERSION-TARGET.vsix for each of the named platforms, or for all:
${[...targets.keys()].join(', ')}. \`own\` is this machine's.

  --help    show this`;

/** Folder that is packaged, relative to the repository. */
const staged = 'packages/.staged';

await main(async () => {
  const { values, positionals } = commandLine({ help: { type: 'boolean', default: false } }, help);
  if (values.help) {
    console.log(help);
    return 0;
  }
  const other = await continueInProjectNode();
  if (other !== undefined) return other;
  const wanted = positionals.length === 0 ? [...targets.keys()] : positionals.map(named);
  const folder = path.join(root, staged);
  rmSync(folder, { recursive: true, force: true });
  await step('Building for production', async () => {
    const build = ['esbuild.js', '--production', '--outdir', `${staged}/dist`];
    const status = await run(process.execPath, build, { cwd: root });
    if (status !== 0) throw new SetupFault('The build failed; its errors stand above.');
  });
  // Only now: it is one of the packages that were just installed.
  const { createVSIX } = await import('@vscode/vsce');
  const { version } = ownManifest();
  for (const target of wanted) {
    const file = path.join(root, 'packages', `tandem-${String(version)}-${target}.vsix`);
    await step(path.relative(root, file), async () => {
      await stage(target, folder);
      await createVSIX({
        cwd: folder,
        packagePath: file,
        target,
        ignoreFile,
        dependencies: false,
        // Pictures are in the package; nowhere on the web is a copy that their links could name.
        rewriteRelativeLinks: false,
        allowMissingRepository: true,
      });
    });
    console.log(`  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  }
  rmSync(folder, { recursive: true, force: true });
  return 0;
});

/** @param {string} name @returns {string} */
function named(name) {
  const target = name === 'own' ? ownTarget : name;
  if (targets.has(target)) return target;
  throw new SetupFault(`There is no target "${target}". The targets are ${[...targets.keys()].join(', ')}.`);
}
