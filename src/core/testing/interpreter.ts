import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { childEnvironment } from '../childEnvironment';
import { Fault } from '../fault';
import { jsonOrUndefined } from '../json';
import { lazily } from '../lazily';
import { withoutEnd } from '../text';
import { runCommand } from './run';

/** Runs on every Python 3. */
const PROBE = `
import json, os, sys, sysconfig
from importlib.util import find_spec
managed = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
print(json.dumps({
    "executable": sys.executable,
    "prefix": sys.prefix,
    "version": "%d.%d.%d" % sys.version_info[:3],
    "hasPytest": find_spec("pytest") is not None,
    "hasPip": find_spec("pip") is not None,
    "isManaged": sys.prefix == sys.base_prefix and os.path.exists(managed),
}))
`;

const interpreterSchema = lazily(() =>
  z.object({
    executable: z.string(),
    /** Folder of its packages; several names and shims may lead there. */
    prefix: z.string(),
    version: z.string(),
    hasPytest: z.boolean(),
    hasPip: z.boolean(),
    /** The system's own, into which pip installs nothing (PEP 668). */
    isManaged: z.boolean(),
  }),
);

export type Interpreter = { readonly file: string } & Readonly<z.infer<ReturnType<typeof interpreterSchema>>>;

/** Undefined when the file is no Python 3. */
export async function inspectInterpreter(file: string): Promise<Interpreter | undefined> {
  try {
    const options = { cwd: os.tmpdir(), env: childEnvironment('python'), windowsHide: true };
    const { stdout } = await promisify(execFile)(file, ['-c', PROBE], options);
    const read = interpreterSchema().safeParse(jsonOrUndefined(stdout)).data;
    // A name on the path does not say which Python it is.
    return read && { file: path.isAbsolute(file) ? file : read.executable, ...read };
  } catch {
    return undefined;
  }
}

interface InstallOptions {
  /** They run one after the other. */
  readonly commands: readonly (readonly string[])[];
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** @throws {Fault} `testing/not-installed` @throws the signal's reason when it is aborted */
export async function installPytest({ commands, folder, signal, print }: InstallOptions): Promise<void> {
  for (const command of commands) {
    let output = '';
    print(`${command.join(' ')}\n`);
    const status = await runCommand(command, {
      cwd: folder,
      needs: ['python', 'network', 'installing'],
      signal,
      print: (text) => {
        output += text;
        print(text);
      },
    });
    signal.throwIfAborted();
    if (status === 0) continue;
    const reason = [...output.matchAll(/^(?:ERROR|error): (.+)$/gm)].at(-1)?.[1];
    const why =
      withoutEnd(reason?.trim() ?? '', '.') ||
      `${command.slice(0, 3).join(' ')} ended with status ${status ?? 'none'}`;
    throw new Fault('testing/not-installed', `pytest could not be installed: ${why}.`);
  }
}
