// Makes the Python environment of the trainer's tests and links it into the clone, at .sample/trainer-python, where
// .vscode/launch.json finds it.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { ensurePythonEnvironment } from './python.mjs';
import { root } from './setup/project.mjs';
import { main } from './setup/steps.mjs';

await main(async () => {
  const requirements = path.join(root, 'trainer', 'tests', 'requirements.lock');
  const python = await ensurePythonEnvironment('trainer-tests', requirements, console.log);
  const link = path.join(root, '.sample', 'trainer-python');
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { force: true });
  // On Windows a junction needs no special rights, unlike a symbolic link.
  symlinkSync(path.resolve(path.dirname(python), '..'), link, 'junction');
  return 0;
});
