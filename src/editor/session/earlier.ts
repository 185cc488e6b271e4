import type { TrajectoryLog } from '../../core/trajectory/log';

/** More dialogues than these are not looked into. */
const MOST_DIALOGUES = 20;
const MOST_REPLIES = 50;

/**
 * What somebody has said in dialogues before, from the oldest reply to the newest. It is the log that remembers it, so
 * that what is deleted there is forgotten.
 * @param episode the dialogue that is played now
 */
export async function earlierReplies(log: TrajectoryLog, by: string, episode: string): Promise<string[]> {
  const filter = { collaborator: by };
  const { rows } = log.list({ filter, sort: 'newest', offset: 0, limit: MOST_DIALOGUES });
  const ids = rows.map(({ id }) => id).filter((id) => id !== episode);
  const replies: string[] = [];
  for await (const { turns } of log.trajectories(ids.reverse())) {
    for (const { reply } of turns) if (reply?.by === by) replies.push(reply.text);
  }
  return replies.slice(-MOST_REPLIES);
}
