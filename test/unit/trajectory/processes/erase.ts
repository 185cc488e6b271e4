// Erases one developer's data.
import { TrajectoryLog } from '../../../../src/core/trajectory/log';

const [folder, pseudonym] = process.argv.slice(2) as [string, string];
const log = await TrajectoryLog.open(folder);
process.stdout.write('open\n');
await log.eraseDeveloper(pseudonym);
await log.close();
