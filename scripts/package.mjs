// `npm run package` makes one VSIX per platform, each with that platform's native files only.
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { ownTarget, targets } from './package/runtime.mjs';
import { writeBill } from './package/sbom.mjs';
import { ignoreFile, ownManifest, stage } from './package/stage.mjs';
import { run } from './setup/command.mjs';
import { commandLine } from './setup/options.mjs';
import { continueInProjectNode, root } from './setup/project.mjs';
import { SetupFault, main, step } from './setup/steps.mjs';

const help = `npm run package [-- TARGET…]

Makes packages/tandem-VERSION-TARGET.vsix for each of the named platforms, or for all:
${[...targets.keys()].join(', ')}. \`own\` is this machine's.
Beside them it puts tandem-VERSION.cdx.json, the bill of what others wrote in them (CycloneDX).

  --help    show this`;

/** Path of the packaged folder, relative to the repository. */
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
  // Imported here because the package may just have been installed.
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
        // The package contains its pictures; no copy on the web exists to which links could be rewritten.
        rewriteRelativeLinks: false,
        allowMissingRepository: true,
      });
    });
    console.log(`  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  }
  const bill = path.join(root, 'packages', `tandem-${String(version)}.cdx.json`);
  await step(path.relative(root, bill), () =>
    writeBill(bill, path.join(folder, 'dist', 'build', 'bundled.json')),
  );
  rmSync(folder, { recursive: true, force: true });
  return 0;
});

/** @param {string} name @returns {string} */
function named(name) {
  const target = name === 'own' ? ownTarget : name;
  if (targets.has(target)) return target;
  throw new SetupFault(`There is no target "${target}". The targets are ${[...targets.keys()].join(', ')}.`);
}
