import { neighboursPython, readersFolder, trainersPython, verifiersPython } from './python';

/** Makes the Python environments before the first test, one after the other. */
export default async function setup(): Promise<void> {
  await trainersPython();
  await neighboursPython();
  await readersFolder();
  await verifiersPython();
}
