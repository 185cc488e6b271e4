// Runs a command and everything it forks as one process group, and ends the group when its standard input closes.
// The input closes when the process that holds the other end lets go or dies, also by SIGKILL,
// so that no workbench outlives the command that started it.
//   node leash.mjs COMMAND ARGS…     (started as the leader of a new process group)
import { spawn } from 'node:child_process';

/** Milliseconds between SIGTERM and SIGKILL. */
const patience = 2000;

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

child.once('error', (error) => {
  console.error(error.message);
  kill();
});
// Processes that the command forked are killed with it.
child.once('exit', kill);

process.on('SIGTERM', end);
process.stdin.resume();
process.stdin.once('close', end);

let ending = false;

function end() {
  if (ending) return;
  ending = true;
  process.kill(-process.pid, 'SIGTERM');
  setTimeout(kill, patience);
}

/** Ends the whole group, this process included. */
function kill() {
  process.kill(-process.pid, 'SIGKILL');
}
