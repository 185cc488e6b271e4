import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  isInstalled,
  openTrainer,
  type TrainerOptions,
} from '../../../src/core/training/environment/environment';
import { findPython } from '../../../src/core/training/environment/findPython';
import { ask, type Trainer } from '../../../src/core/training/trainer';
import { eventually } from '../../fixtures/eventually';
import { temporaryFolder } from '../../fixtures/log';

/** A trainer without external dependencies; even its build backend is in its folder. */
const project = {
  'pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
  'requirements.lock': '# nothing from outside\n',
  'tandem_trainer/__init__.py': '',
  'tandem_trainer/__main__.py': 'import sys; print("version 1 of the trainer", *sys.argv[1:])\n',
  'backend.py': [
    'import zipfile',
    'NAME = "tandem_trainer-1-py3-none-any.whl"',
    'def build_wheel(folder, *rest):',
    '    with zipfile.ZipFile(f"{folder}/{NAME}", "w") as wheel:',
    '        for module in ("__init__", "__main__"):',
    '            wheel.write(f"tandem_trainer/{module}.py")',
    '        info = "tandem_trainer-1.dist-info/"',
    '        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: tandem-trainer\\nVersion: 1\\n")',
    '        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")',
    '        wheel.writestr(info + "RECORD", "")',
    '    return NAME',
  ].join('\n'),
};

type Told = TrainerOptions & { said: string[] };

/** A cache with the packages of this project, made once because it is slow, and by two processes at the same time. */
const made = mkdtempSync(path.join(tmpdir(), 'tandem-environments-'));
const first = toldOptions(made);
let before: boolean;
let opened: readonly Trainer[];
let folder: string;
let options: Told;

beforeAll(async () => {
  for (const [name, text] of Object.entries(project)) await write(path.join(first.source, name), text);
  await onlyOnPath(made, 'python3');
  before = await isInstalled(first);
  opened = await Promise.all([openTrainer(first), openTrainer(first)]);
});

afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await temporaryFolder();
  options = toldOptions(folder);
  for (const [name, text] of Object.entries(project)) await write(path.join(options.source, name), text);
  await onlyOnPath(folder, 'python3');
});

afterEach(() => vi.unstubAllEnvs());

function toldOptions(folder: string): Told {
  const said: string[] = [];
  const source = path.join(folder, 'extension', 'trainer');
  return { source, cache: path.join(folder, 'cache'), said, onLine: (line) => said.push(line) };
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Makes a PATH with only these commands of this machine, by links in `folder`. */
async function onlyOnPath(folder: string, ...names: readonly string[]): Promise<void> {
  const bin = path.join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  for (const name of names) {
    // A script instead of a link, because an interpreter looks for its library beside itself.
    const real = execFileSync(name, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
    await symlink(real, path.join(bin, name));
  }
  vi.stubEnv('PATH', bin);
}

/** Selects the Python of the packages, because an environment belongs to the Python that made it. */
const usePythonOfPackages = (): void => void vi.stubEnv('PATH', path.join(made, 'bin'));

async function usePackages(): Promise<void> {
  const filter = (file: string): boolean => !path.basename(file).startsWith('trainer-');
  await cp(first.cache, options.cache, { recursive: true, verbatimSymlinks: true, filter });
  usePythonOfPackages();
}

const answerOf = async (options: TrainerOptions): Promise<string> =>
  (await ask(await openTrainer(options), ['plan'], { cwd: folder })).stdout.trim();

const environments = async ({ cache }: TrainerOptions = options): Promise<string[]> => {
  const names = await readdir(path.join(cache, 'trainer'));
  return names.filter((name) => !name.endsWith('.log')).map((name) => name.split('-')[0]!);
};

describe('the trainer’s environment', () => {
  it('is made on first need, says so, and is found the next time', async () => {
    usePythonOfPackages();
    expect(before).toBe(false);
    expect(first.said.join('\n')).toMatch(/several gigabytes/);
    expect(await isInstalled(first)).toBe(true);
    const said = [...first.said];
    expect(await answerOf(first)).toBe('version 1 of the trainer plan');
    expect(first.said).toEqual(said);
    expect(await environments(first)).toEqual(['packages', 'trainer']);
  });

  it('of a new version of the trainer is a small one of its own; the old one goes on', async () => {
    await usePackages();
    const old = await openTrainer(options);
    await write(path.join(options.source, 'tandem_trainer/__main__.py'), 'print("version 2")');
    expect(await answerOf(options)).toBe('version 2');
    expect((await ask(old, [], { cwd: folder })).stdout.trim()).toBe('version 1 of the trainer');
    expect((await environments()).sort()).toEqual(['packages', 'trainer', 'trainer']);
  });

  it('is made once by two who want it at the same time', () => {
    expect(opened[0]).toEqual(opened[1]);
    expect(first.said.filter((line) => line.includes('several gigabytes'))).toHaveLength(1);
    expect(first.said.join('\n')).toContain('Another Tandem is making');
  });

  it('that cannot be made says which command failed and how, and leaves nothing half-made', async () => {
    await write(
      path.join(options.source, 'requirements.lock'),
      'nowhere @ file:///nowhere/nowhere-1-py3-none-any.whl\n',
    );
    const making = openTrainer(options);
    await expect(making).rejects.toMatchObject({ code: 'training/not-installed' });
    await expect(making).rejects.toThrow(/pip install.*ended with status 1[\s\S]*nowhere/);
    expect(await environments()).toEqual([]);
    const [log] = await readdir(path.join(options.cache, 'trainer'));
    expect(await readFile(path.join(options.cache, 'trainer', log!), 'utf8')).toContain('nowhere');
  });

  it('is not made of a package whose bytes are not those of the lock', async () => {
    const wheel = path.join(folder, 'index', 'needed-1-py3-none-any.whl');
    await mkdir(path.dirname(wheel));
    await writeFile(wheel, 'what somebody else put there');
    vi.stubEnv('PIP_NO_INDEX', '1');
    vi.stubEnv('PIP_FIND_LINKS', path.dirname(wheel));
    const hash = createHash('sha256').update('what was tested').digest('hex');
    await write(path.join(options.source, 'requirements.lock'), `needed==1 --hash=sha256:${hash}\n`);
    const making = openTrainer(options);
    await expect(making).rejects.toMatchObject({ code: 'training/not-installed' });
    await expect(making).rejects.toThrow(/DO NOT MATCH THE HASHES[\s\S]*needed==1/);
    expect(await environments()).toEqual([]);
  });

  it('is made again when the one who made it was killed', async () => {
    await usePackages();
    await openTrainer(options);
    const place = path.join(options.cache, 'trainer');
    const made = (await readdir(place)).find((name) => /^trainer-\w+$/.test(name))!;
    await rm(path.join(place, made), { recursive: true });
    await mkdir(path.join(place, `${made}.part-1234`));
    expect(await answerOf(options)).toBe('version 1 of the trainer plan');
    expect((await readdir(place)).filter((name) => /part|owner/.test(name))).toEqual([]);
  });

  it('is given up when the user cancels, and leaves nothing half-made', async () => {
    await usePackages();
    // The build of this version lasts until its file is gone.
    const building = path.join(folder, 'building');
    const slow = [
      'import pathlib, time',
      `building = pathlib.Path(${JSON.stringify(building)})`,
      'def build_wheel(*given):',
      '    building.touch()',
      '    while building.exists():',
      '        time.sleep(0.02)',
    ];
    await write(path.join(options.source, 'backend.py'), slow.join('\n'));
    const controller = new AbortController();
    const making = openTrainer({ ...options, signal: controller.signal });
    const given = expect(making).rejects.toThrow('Enough.');
    await eventually(() => stat(building));
    controller.abort(new Error('Enough.'));
    await rm(building);
    await given;
    expect(await environments()).toEqual(['packages']);
    await write(path.join(options.source, 'backend.py'), project['backend.py']);
    expect(await answerOf(options)).toBe('version 1 of the trainer plan');
  });
});

describe('a Python', () => {
  it('that is nowhere, or is named and is none, is refused with the version that is needed', async () => {
    const python = { file: path.join(folder, 'no-python'), by: 'TANDEM_PYTHON' };
    await expect(openTrainer({ ...options, python })).rejects.toThrow(/TANDEM_PYTHON .*no-python.* 3\.10/);
    vi.stubEnv('PATH', path.join(folder, 'empty'));
    await expect(openTrainer(options)).rejects.toThrow('Python 3.10');
  });

  it('that is chosen for the folder is taken before those of the PATH, and passed over when it will not do', async () => {
    const python = await findPython(undefined, true);
    vi.stubEnv('PATH', path.join(folder, 'empty'));
    expect(await findPython(undefined, true, python.file)).toEqual(python);
    const none = path.join(folder, 'no-python');
    await expect(findPython(undefined, true, none)).rejects.toThrow('none is on the PATH');
    vi.stubEnv('PATH', path.dirname(python.file));
    expect((await findPython(undefined, true, none)).build).toBe(python.build);
  });

  it('that is too old is named with its version, on the PATH and in a setting', async () => {
    const old = path.join(folder, 'bin', 'python3.9');
    await write(old, '#!/bin/sh\necho 3.9 linux-x86_64\necho True\n');
    await chmod(old, 0o755);
    const python = { file: old, by: 'tandem.training.python' };
    await expect(openTrainer({ ...options, python })).rejects.toThrow(/python3\.9, which is Python 3\.9/);
    vi.stubEnv('PATH', path.join(folder, 'empty'));
    await expect(findPython(undefined, true, old)).rejects.toThrow(/python3\.9 is Python 3\.9/);
  });

  it('that is said to have the packages and lacks them is refused with their names', async () => {
    const ready = path.join(folder, 'bin', 'python3');
    await expect(openTrainer({ ...options, ready })).rejects.toThrow(/which lacks .*torch/);
  });
});
