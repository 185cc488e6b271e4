// Claims a name, prints whether it succeeded, and holds the claim until it is killed.
import { messageOf } from '../../../../src/core/fault';
import { TrajectoryLog } from '../../../../src/core/trajectory/log';

const [folder, name] = process.argv.slice(2) as [string, string];
const log = await TrajectoryLog.open(folder);
try {
  await log.claim(name, 'This dialogue');
  process.stdout.write('held\n');
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`refused: ${messageOf(error)}\n`);
}
