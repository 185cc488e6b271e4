/**
 * Arguments with which a child process of Node listens for a debugger on the port that a variable of the environment
 * names; none without it. `CONTRIBUTING.md` says how to attach.
 */
export function inspectArguments(variable: string): string[] {
  const port = process.env[variable] ?? '';
  return port === '' ? [] : [`--inspect=127.0.0.1:${port}`];
}
