import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state as drawn } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { modelLabel, playerLabel } from '../dialogue/names';
import { heldBack } from '../dialogue/leakWarning';
import { t } from '../language';
import { button, icon, linkButton, progress, textArea } from '../ui';
import type { MenuItem } from '../ui/menu';
import { host, type Composition } from './host';
import { leaving, rest } from './footer';
import { keys, recalled } from './keys';
import type { Draft, LeakWarning, SessionState } from './protocol';
import { replyLength, type ReplyLength } from './view';

@customElement('tandem-composer')
export class ComposerElement extends PlainElement {
  @property({ attribute: false }) state!: SessionState;
  @property({ attribute: false }) composition!: Composition;
  /** A new object after each change, so that it is drawn again. */
  @property({ attribute: false }) draft!: Draft;
  @property({ attribute: false }) isSending = false;
  @property({ attribute: false }) warning: LeakWarning | undefined;
  /** Oldest first; those of this dialogue come last. */
  @property({ attribute: false }) earlier: readonly string[] = [];

  /** The person must be told why nothing was sent. */
  @drawn() private wasTooLong = false;

  override render(): TemplateResult {
    const { draft, state } = this;
    const length = replyLength(draft.text, state.replyLimit);
    return html`${this.origin()}
      <div class="composer">
        ${textArea({
          id: 'reply',
          label: t('Your reply to the agent'),
          describedBy: 'reply-limit',
          invalid: length.over > 0,
          value: draft.text,
          disabled: this.isSending,
          readOnly: state.isSuggesting === true,
          onInput: (text) => {
            this.wasTooLong = false;
            this.composition.write(text);
          },
          onKey: (event) => this.keyed(event),
        })}
        <span
          id="reply-length"
          class="counter ${length.over > 0 ? 'over' : ''}"
          title=${t('Characters of a reply')}
          aria-hidden="true"
        >
          ${length.words}
        </span>
        <span id="reply-limit" class="unseen"
          >${t('{0} of at most {1} characters', length.used, state.replyLimit)}</span
        >
        <span class="unseen" role="status"> ${this.wasTooLong ? notSent(length) : length.warning} </span>
      </div>
      ${this.warning === undefined ? this.actions() : this.leak(this.warning)}`;
  }

  private origin(): TemplateResult | typeof nothing {
    const { suggestion } = this.draft;
    if (suggestion === undefined) return nothing;
    return html`<p class="origin quiet">
      <span role="status"
        >${icon('lightbulb')}
        ${t('Drafted by {0}. Edit or send.', playerLabel(suggestion.by, 'simulator', this.state))}</span
      >
      ${linkButton(
        t('Discard'),
        () => this.composition.discardSuggestion(),
        t('Restore what you wrote before'),
        keys.discard,
      )}
    </p>`;
  }

  private actions(): TemplateResult {
    const { state, isSending } = this;
    const named = modelLabel(state.simulator, state.called) || t('The simulator');
    const hasSimulator = state.onlyDeveloperKnows !== true && state.needsSimulator !== true;
    if (state.isSuggesting === true) {
      return html`<div class="actions">
        ${progress(t('{0} drafts a reply', named))}
        ${button({ label: t('Stop'), key: keys.stop, onPress: () => host.act('stop') })}
      </div>`;
    }
    return html`<div class="actions" ?inert=${isSending}>
      ${button({
        id: 'send',
        label: t('Send'),
        kind: 'primary',
        key: keys.send,
        disabled: !this.isSendable,
        onPress: () => this.composition.send(),
      })}
      ${
        hasSimulator
          ? button({
              label: t('Suggest'),
              key: keys.suggest,
              title: t('{0} drafts a reply for you', named),
              onPress: () => host.act('suggest'),
            })
          : nothing
      }
      ${button({
        label: t('No preference'),
        key: keys.dontMind,
        title: t('Says that you have no preference, or do not know'),
        onPress: () => host.act('dont-mind'),
      })}
      ${rest([...this.simulating(named, hasSimulator), regenerating, ...leaving(state)])}
    </div>`;
  }

  private simulating(named: string, hasSimulator: boolean): MenuItem[] {
    const { state } = this;
    if (hasSimulator) {
      return [
        {
          label: t('Let the simulator reply'),
          key: keys.simulatorOnce,
          title: t('{0} replies to this one turn', named),
          onPress: () => host.act('simulator-once'),
        },
        {
          label: t('Hand over to simulator'),
          key: keys.simulatorOn,
          title: t('{0} replies until you take over', named),
          onPress: () => host.act('simulator-on'),
        },
      ];
    }
    if (state.onlyDeveloperKnows === true) return [];
    return [
      {
        label: t('Choose a simulator…'),
        title:
          state.simulator === 'rules'
            ? t('The simulator (rules) knows nothing about this task; a model can reply for you')
            : t('No simulator is chosen that could reply for you'),
        onPress: () => host.act('choose-simulator'),
      },
    ];
  }

  private leak(warning: LeakWarning): TemplateResult {
    return heldBack(
      warning,
      () => this.edit(),
      () => this.composition.send(true),
    );
  }

  private edit(): void {
    this.composition.edit();
    this.querySelector<HTMLElement>('#reply')?.focus();
  }

  private get isSendable(): boolean {
    const { text } = this.draft;
    return (
      !this.isSending &&
      this.state.isSuggesting !== true &&
      text.trim() !== '' &&
      replyLength(text, this.state.replyLimit).over === 0
    );
  }

  private keyed(event: KeyboardEvent): void {
    // Keys that an input method needs to end a composition (Japanese, Chinese) belong to the input method.
    if (event.isComposing || event.shiftKey || event.altKey || this.state.isSuggesting === true) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      if (this.isSendable) this.composition.send();
      else this.wasTooLong = replyLength(this.draft.text, this.state.replyLimit).over > 0;
    } else if (event.key === 'Escape' && this.draft.suggestion !== undefined) {
      event.preventDefault();
      this.composition.discardSuggestion();
    } else {
      const text = recalled(this.earlier, this.draft.text, event.key);
      if (text === undefined) return;
      event.preventDefault();
      this.composition.write(text);
    }
  }
}

const regenerating: MenuItem = {
  label: t('Regenerate'),
  key: keys.anotherSample,
  title: t('The agent writes its last message again; the log keeps both'),
  onPress: () => host.act('another-sample'),
};

const notSent = ({ over }: ReplyLength): string =>
  over === 1 ? t('Not sent: 1 character too many.') : t('Not sent: {0} characters too many.', over);
