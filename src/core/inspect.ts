/**
 * Node arguments that make a child process listen for a debugger on the port in this environment variable; none if it
 * is unset. `CONTRIBUTING.md` says how to attach.
 */
export function inspectArguments(variable: string): string[] {
  const port = process.env[variable] ?? '';
  return port === '' ? [] : [`--inspect=127.0.0.1:${port}`];
}
