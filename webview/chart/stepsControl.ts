import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { iconButton } from '../ui';
import { inlineSelect } from '../ui/inline';
import type { Axis, Steps } from './protocol';
import { allSteps, moved, rangeWords, zoomed, type Zoom } from './steps';

/** `share`: the last fraction of the x-axis. */
const shares = (axis: Axis): readonly { readonly share: number; readonly label: string }[] => [
  { share: 1, label: axis === 'step' ? t('all steps') : t('all of it') },
  { share: 0.5, label: t('last half') },
  { share: 0.1, label: t('last tenth') },
];

/** Value of the list entry for a range that is none of `shares`. */
const OWN = 'own';

interface StepsControl {
  readonly steps: Steps;
  readonly zoom: Zoom;
  readonly onSteps: (steps: Steps) => void;
}

export function stepsControl({ steps, zoom, onSteps }: StepsControl): TemplateResult {
  const own = rangeWords(zoom);
  const share = 'share' in steps ? steps.share : zoom.shown === zoom.all ? 1 : undefined;
  const options = shares(zoom.axis).map((one) => ({ value: String(one.share), label: one.label }));
  return html`<span class="steps"
    >${inlineSelect(
      zoom.axis === 'step' ? t('Steps') : t('Time'),
      share === undefined ? [...options, { value: OWN, label: own }] : options,
      share === undefined ? OWN : String(share),
      (value) => {
        if (value !== OWN) onSteps({ share: Number(value) });
      },
    )}
    <span class="zoom" role="group" aria-label=${t('Zoom')}>
      ${keyed.map(({ icon, label, key, steps: next }) =>
        iconButton({ icon, label, key, onPress: () => onSteps(next(zoom)) }),
      )}
      ${iconButton({ icon: 'chevron-left', label: t('Earlier'), onPress: () => onSteps(moved(zoom, -0.5)) })}
      ${iconButton({ icon: 'chevron-right', label: t('Later'), onPress: () => onSteps(moved(zoom, 0.5)) })}
    </span>
    <span class="unseen" role="status"
      >${share !== undefined ? '' : zoom.axis === 'step' ? t('steps {0}', own) : own}</span
    ></span
  >`;
}

const keyed = [
  {
    ...{ icon: 'zoom-in', label: t('Zoom in'), key: 'Plus', keys: ['+', '='] },
    steps: (zoom: Zoom) => zoomed(zoom, 0.5),
  },
  {
    ...{ icon: 'zoom-out', label: t('Zoom out'), key: '-', keys: ['-'] },
    steps: (zoom: Zoom) => zoomed(zoom, 2),
  },
  { ...{ icon: 'screen-full', label: t('Show all'), key: '0', keys: ['0'] }, steps: () => allSteps },
];

function stepsOfKey(
  { key, ctrlKey, altKey, metaKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>,
  zoom: Zoom,
): Steps | undefined {
  if (ctrlKey || altKey || metaKey) return undefined;
  return keyed.find(({ keys }) => keys.includes(key))?.steps(zoom);
}

export const zoomKeys =
  (zoom: Zoom, onSteps: (steps: Steps) => void) =>
  (event: KeyboardEvent): void => {
    // A select or an input takes typed characters itself.
    if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
    const steps = stepsOfKey(event, zoom);
    if (steps === undefined) return;
    event.preventDefault();
    onSteps(steps);
  };
