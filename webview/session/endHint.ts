import { t } from '../language';
import type { SessionState } from './protocol';

/** What becomes of the answer when the dialogue is ended by hand: nothing tests a developer's own function. */
export function endHint({ onlyDeveloperKnows }: Pick<SessionState, 'onlyDeveloperKnows'>): string {
  return onlyDeveloperKnows === true
    ? t("Take the agent's last message as its answer and review the change")
    : t("Take the agent's last message as its answer and grade it");
}
