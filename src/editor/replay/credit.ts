import type { Credit } from '../../core/training/credit/credit';
import type { AdvantageUnit } from '../../core/training/credit/critics';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { verdictsOf } from '../../core/trajectory/opinions';
import type { Credits, TurnCredit } from '../../../webview/replay/protocol';
import type { KnownCredit } from '../credit/credits';
import { agreementWords } from '../credit/words';
import type { Translate } from '../translate';

/** @param own pseudonym of the person at this editor @param restriction the reason why no critic runs here */
export function creditsView(
  known: KnownCredit | undefined,
  trajectories: readonly Trajectory[],
  { own, restriction }: { readonly own: string | undefined; readonly restriction?: string | undefined },
  t: Translate,
): Credits {
  const message = { type: 'credit', episodes: trajectories.map(({ id }) => id) } as const;
  const none = trajectories.map(() => null);
  if (known === undefined) return { ...message, canScore: false, credits: none };
  const { place, critic, problem, agreement } = known;
  const credits = trajectories.map((trajectory, index) => {
    const credit = known.credits[index];
    return credit === undefined ? null : turnsOf(credit, trajectory, own, t);
  });
  return {
    ...message,
    critic: {
      ...place,
      unit: critic === undefined ? '' : unitWords(critic.unit, t),
      scale: scaleOf(credits.flatMap((turns) => turns ?? [])),
      agreement: agreement === undefined ? [] : agreementWords(agreement, t),
    },
    ...(problem !== undefined && { problem }),
    ...(restriction !== undefined && { restriction }),
    canScore:
      critic !== undefined &&
      trajectories.some(({ turns }, index) => turns.length > 0 && credits[index] === null),
    credits,
  };
}

function turnsOf(
  { critic, turns }: Credit,
  trajectory: Trajectory,
  own: string | undefined,
  t: Translate,
): TurnCredit[] {
  const verdicts = verdictsOf(trajectory).filter((verdict) => verdict.critic === critic);
  return turns.flatMap(({ turn, advantage, untrained, tokens }) => {
    if (advantage === null) return [];
    const ofTurn = verdicts.filter((verdict) => verdict.turn === turn);
    const mine = ofTurn.find(({ by }) => by === own);
    const others = ofTurn.filter((verdict) => verdict !== mine);
    return [
      {
        ...{ turn, advantage, untrained },
        ...(tokens && { tokens }),
        ...(mine && { agrees: mine.agrees }),
        others: others.map(({ by, agrees }) =>
          agrees ? t('{0} agrees with the critic', by) : t('{0} disagrees with the critic', by),
        ),
      },
    ];
  });
}

/** Returns one scale for all bars that are seen together, so that they can be compared. */
const scaleOf = (turns: readonly TurnCredit[]): number =>
  Math.max(
    0,
    ...turns.flatMap(({ advantage, untrained }) => [Math.abs(advantage), Math.abs(untrained ?? 0)]),
  );

function unitWords(unit: AdvantageUnit, t: Translate): string {
  const words = {
    'nats-per-token': t('nats/token'),
    nats: t('nats'),
    logit: t('logit of the reward after the turn'),
  };
  return words[unit];
}
