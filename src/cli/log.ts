import { TrajectoryLog } from '../core/trajectory/log';
import { say } from './output';

/** Reports the log's notes and problems on stderr. */
export async function openLog(folder: string): Promise<TrajectoryLog> {
  const log = await TrajectoryLog.open(folder);
  for (const note of log.notes) say(note);
  for (const { file, line, reason } of log.problems) say(`${file}:${line}: ${reason}`);
  return log;
}

export async function withLog<T>(folder: string, use: (log: TrajectoryLog) => T | Promise<T>): Promise<T> {
  const log = await openLog(folder);
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}
