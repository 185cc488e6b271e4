import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { isLetter, type KeyPress } from '../session/keys';
import { icon, iconButton, linkButton } from '../ui';
import { editorApi } from '../editorApi';
import type { Action, FromWebview, PanelState, Replay, ReviewView } from './protocol';

const api = editorApi<FromWebview, PanelState>();

export const act = (action: Action, episode: string): void =>
  api.postMessage({ type: 'act', action, episode });

export const fork = (episode: string, turn: number, by: 'message' | 'reply'): void =>
  api.postMessage({ type: 'fork', episode, turn, by });

export const compare = (one: string, other: string): void =>
  api.postMessage({ type: 'compare', episodes: [one, other] });

const keys = { accept: 'Alt+A', redo: 'Alt+R', next: 'Alt+N' } as const;

/** @returns true when the page uses the key */
export function reviewByKey(press: KeyPress, { episode, canReview, review }: Replay): boolean {
  const action = isLetter(press, keys.accept) ? 'accept' : isLetter(press, keys.redo) ? 'redo' : undefined;
  if (action === undefined || !canReview) return false;
  const isDone = review?.state === (action === 'accept' ? 'accepted' : 'redo');
  if (!isDone && !press.repeat) act(action, episode);
  return true;
}

export function reviewTools(replay: Replay): TemplateResult {
  const { episode, canReview } = replay;
  const go = (look: string, label: string, action: Action, title: string, key?: string): TemplateResult =>
    iconButton({ icon: look, label, title, key, onPress: () => act(action, episode) });
  return html`<span class="tools">
    ${canReview ? reviewLinks(replay) : nothing}
    <span class="buttons">
      ${go('edit', t('rename…'), 'rename', t('Give the dialogue a title of your own'))}
      ${go('tag', t('tags…'), 'tag', t('Choose the tags of the dialogue'))}
      ${go('note', t('note…'), 'note', t('Write a note on the dialogue'))}
    </span>
    <span class="buttons">
      ${go('arrow-up', t('previous failure'), 'previous-failure', t('Replay the failed dialogue before this one in the list'), 'Shift+F8')}
      ${go('arrow-down', t('next failure'), 'next-failure', t('Replay the failed dialogue that follows in the list'), 'F8')}
      ${go('arrow-right', t('next to review'), 'next-unreviewed', t('Replay the next dialogue of the list that nobody has reviewed'), keys.next)}
    </span>
  </span>`;
}

function reviewLinks({ episode, review }: Replay): TemplateResult {
  const link = (label: string, action: Action, look: string, title: string, key?: string): TemplateResult =>
    linkButton(html`${icon(look)} ${label}`, () => act(action, episode), title, key);
  return html`${
    review?.state === 'accepted'
      ? nothing
      : link(t('accept'), 'accept', looks.accepted, t('Accept the dialogue'), keys.accept)
  }
  ${
    review?.state === 'redo'
      ? nothing
      : link(t('redo…'), 'redo', looks.redo, t('Mark the dialogue to be redone, with a reason'), keys.redo)
  }
  ${
    review === undefined
      ? nothing
      : link(
          t('remove review'),
          'take-review-back',
          'discard',
          t('Remove the review, so that nobody has reviewed it'),
        )
  }`;
}

const looks = { accepted: 'verified', redo: 'debug-restart' } as const;

export function reviewFact({ canReview, review }: Replay): TemplateResult | typeof nothing {
  if (!canReview || review === undefined) return nothing;
  return html`<li>${icon(looks[review.state])} ${words(review)}</li>`;
}

function words({ state, reason, by }: ReviewView): string {
  const person = withVisibleControls(by);
  if (state === 'accepted') return t('accepted by {0}', person);
  if (reason === undefined) return t('to be redone, says {0}', person);
  return t('to be redone, says {0}: {1}', person, withVisibleControls(reason));
}

export const notes = ({ label }: Replay): TemplateResult[] =>
  (label?.notes ?? []).map(
    ({ by, text }) =>
      html`<p class="note">
        ${icon('note')} ${withVisibleControls(text)} <span class="quiet">${withVisibleControls(by)}</span>
      </p>`,
  );
