import type * as Sqlite from 'node:sqlite';
import { Fault } from '../../fault';

export type Database = Sqlite.DatabaseSync;

/**
 * Opens a database with Node's own SQLite, loaded at the first call. Older Nodes warn on stderr that it is
 * experimental, which does not concern the user of a command; only that warning is suppressed.
 * @throws {Fault} `trajectory/no-sqlite`
 */
export function openDatabase(file: string, readOnly = false): Database {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]): void => {
    if (!String(warning[0]).includes('SQLite')) emitWarning(...warning);
  };
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
    if (sqlite) return new sqlite.DatabaseSync(file, { readOnly });
  } finally {
    process.emitWarning = emitWarning;
  }
  const message = `The index of the log needs Node 22.13 or newer, and this is ${process.versions.node}: update Node, or VS Code.`;
  throw new Fault('trajectory/no-sqlite', message);
}

/** Undefined if the error does not say that the file is damaged. */
export function damageOf(error: unknown): string | undefined {
  const isDamage = error instanceof Error && 'errcode' in error && DAMAGE.has(Number(error.errcode) & 0xff);
  return isDamage ? error.message : undefined;
}

/** SQLITE_ERROR (a table or column is missing), SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE = new Set([1, 11, 26]);

export function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error;
}

/** Waits for the transactions of other processes. */
export function transaction(database: Database, write: () => void): void {
  database.exec('begin immediate');
  try {
    write();
    database.exec('commit');
  } catch (error) {
    rollback(database);
    throw error;
  }
}

export function rollback(database: Database): void {
  try {
    database.exec('rollback');
  } catch (error) {
    // SQLite has already rolled back, e.g. after a full disk, and has said why.
    if (!isSqliteError(error)) throw error;
  }
}
