#!/usr/bin/env node
import { main, tandem } from './main';

/** As `engines` in package.json; an older Node would fail in the middle of a command. */
const NEEDED = [22, 15] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `Tandem needs Node ${NEEDED.join('.')} or newer, and this is ${process.versions.node}: update it, or run \`npm run tandem -- …\` in Tandem's folder, which brings its own.\n`,
  );
  process.exitCode = 1;
} else {
  void main(process.argv.slice(2), { ...tandem, assets: __dirname }).then((code) => {
    process.exitCode = code;
  });
}
