// Refreshes the sample workspace that `npm start` opens, which holds shipped files and the user's own.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Records the digest of each shipped file when it was copied. */
const ledgerName = '.shipped.json';

/**
 * Copies the shipped files into the user's workspace. Files that the user changed or made, such as dialogues, are not
 * touched; unchanged ones follow the repository.
 *
 * @param {string} shipped folder in the repository
 * @param {string} workspace the user's copy
 */
export function refreshSample(shipped, workspace) {
  mkdirSync(workspace, { recursive: true });
  const ledgerFile = path.join(workspace, ledgerName);
  const ledger = readLedger(ledgerFile);
  for (const file of filesIn(shipped)) {
    const from = path.join(shipped, file);
    const to = path.join(workspace, file);
    if (existsSync(to) && ledger[file] !== hash(to)) continue;
    cpSync(from, to);
    ledger[file] = hash(to);
  }
  writeFileSync(ledgerFile, `${JSON.stringify(ledger, null, 2)}\n`);
}

/** @param {string} file @returns {Record<string, string>} digests by file */
function readLedger(file) {
  if (!existsSync(file)) return {};
  /** @type {unknown} */
  const ledger = JSON.parse(readFileSync(file, 'utf8'));
  return /** @type {Record<string, string>} */ (ledger);
}

/** @param {string} folder @returns {string[]} paths inside the folder, sorted */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** @param {string} file */
function hash(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
