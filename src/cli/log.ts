import { TrajectoryLog } from '../core/trajectory/log';

/** Opens the log of a data folder and says on stderr what is wrong with it. */
export async function openLog(folder: string): Promise<TrajectoryLog> {
  const log = await TrajectoryLog.open(folder);
  for (const note of log.notes) process.stderr.write(`${note}\n`);
  for (const { file, line, reason } of log.problems) process.stderr.write(`${file}:${line}: ${reason}\n`);
  return log;
}
