import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './newRun.css';
import { PageElement } from '../dialogue/element';
import { t } from '../language';
import { button, icon, iconButton, linkButton, progress, radioGroup, help } from '../ui';
import { checkControl, selectControl, textControl } from './fields';
import { act, checkList, dataFigures, dataSummary, emptyLog, estimateParts, warmStart } from './formSections';
import type {
  ClusterView,
  DataView,
  EstimateView,
  FieldView,
  FormState,
  FormView,
  Option,
  StartView,
  ToWebview,
  Values,
  FromWebview,
} from './protocol';
import { editorApi, isFlag, part } from '../editorApi';

const api = editorApi<FromWebview, FormState>();

@customElement('tandem-newrun')
export class NewRunElement extends PageElement<ToWebview> {
  @state() private form: FormState | undefined;
  @state() private shown: FormView | undefined;
  @state() private data: DataView | undefined;
  @state() private estimate: EstimateView | undefined;
  @state() private starting: StartView | undefined;
  @state() private said = '';
  /** Summary announced last, so that it is announced once. */
  private counted = '';

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.start();
    });
  }

  override render(): TemplateResult {
    const { form, shown } = this;
    if (form === undefined || shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${t('New run')}>
        <h1>${titleOf(form)}</h1>
        ${this.restricted(shown)}
        ${
          shown.isEmpty
            ? emptyLog(shown, (values) => this.set(values))
            : html`<fieldset class="whole" role="none" ?disabled=${this.isStarting}>
                ${this.base(shown)} ${this.learned()} ${this.method(shown)} ${this.plan()} ${this.more(shown)}
              </fieldset>`
        }
        ${help(t('A run trains a model on dialogues of the log; each setting begins with a value that was found to work for a model of that size.'), 'training')}
      </main>
      ${shown.isEmpty ? nothing : this.footer(shown)}
      <div role="status" class="unseen">${this.said}</div>`;
  }

  /**
   * True while the run starts and nothing can be changed. Each button of the toolkit is told separately, because a
   * fieldset disables it but does not enable it again.
   */
  private get isStarting(): boolean {
    return this.starting?.isStarting === true;
  }

  protected override receive(message: ToWebview): void {
    switch (message.type) {
      case 'begin':
        this.begin(message.state);
        break;
      case 'set':
        this.set(message.values);
        break;
      case 'show':
        this.revealWrong(message.errors);
        this.shown = message;
        break;
      case 'data':
        this.say(message);
        // The figures of the earlier choice stay until the new ones are counted.
        this.data =
          message.isCounting && this.data !== undefined
            ? { ...this.data, isCounting: true, problem: '' }
            : message;
        break;
      case 'estimate':
        if (message.summary !== '' && message.summary !== this.estimate?.summary)
          this.said = `${message.sentence} ${message.summary}`;
        this.estimate = message;
        break;
      case 'start':
        if (message.problem !== '') this.said = message.problem;
        if (this.starting?.isStarting === true && !message.isStarting) this.refocus();
        this.starting = message;
    }
  }

  /** The host knows the values, and the page whether *More* is open. */
  private begin(state: FormState): void {
    this.form = { ...state, isUnfolded: part(api.getState(), 'isUnfolded', isFlag) ?? false };
    api.setState(this.form);
  }

  private say({ summary, problem, isCounting }: DataView): void {
    if (isCounting || summary === '') return;
    if (summary !== this.counted) this.said = `${summary}. ${problem}`;
    this.counted = summary;
  }

  private restricted({ restriction }: FormView): TemplateResult | typeof nothing {
    if (restriction === '') return nothing;
    return html`<p class="notice">
      ${icon('warning')}<span
        >${restriction} ${linkButton(t('Manage Workspace Trust'), () => act('trust'))}</span
      >
    </p>`;
  }

  private base({ bases, devices }: FormView): TemplateResult {
    const isHub = this.value('base') === 'hub';
    const chosen = bases.find(({ value }) => value === this.value('base'));
    return html`<section aria-labelledby="base-title">
      <h2 id="base-title" class="unseen">${t('What to train')}</h2>
      <div class="line base">
        ${selectControl({
          ...this.control('base', t('Base model')),
          options: bases,
          about: chosen?.detail ?? '',
        })}
        ${
          isHub
            ? textControl({
                ...this.control('hub', t('Hugging Face model ID')),
                placeholder: t('owner/name'),
              })
            : nothing
        }
        ${button({
          label: t('Choose a folder…'),
          icon: 'folder-opened',
          title: t('A model in Hugging Face transformers format'),
          disabled: this.isStarting,
          onPress: () => act('browse'),
        })}
        <div class="device">
          ${selectControl({
            ...this.control('model.device', t('Device')),
            options: devices,
            about: t('Small models are faster on the CPU.'),
          })}
        </div>
      </div>
    </section>`;
  }

  private learned(): TemplateResult {
    const { data } = this;
    return html`<section aria-labelledby="data-title">
      <h2 id="data-title">${t('Training data')}</h2>
      ${data === undefined ? nothing : dataSummary(data, this.isStarting, () => this.changeData())}
    </section>`;
  }

  private method({ methods, methodReason, warmStart: warm }: FormView): TemplateResult {
    return html`<section class="how">
      <h2 class="unseen">${t('How')}</h2>
      ${warm === undefined ? nothing : warmStart(warm, this.isStarting, (values) => this.set(values))}
      ${
        methodReason === ''
          ? nothing
          : html`<p class="remark" id="method-reason">${icon('lightbulb')}<span>${methodReason}</span></p>`
      }
      ${this.radios('method', t('Method'), methods)}
    </section>`;
  }

  private cluster({ fields, state, sentence }: ClusterView): TemplateResult {
    const again = iconButton({
      ...{ icon: 'refresh', label: t('Ask the cluster again') },
      onPress: () => act('askCluster'),
    });
    return html`<div class="cluster">
      <div class="grid">${fields.map((field) => this.field(field))}</div>
      <div class="line answer" role="status">
        ${state === 'checking' ? progress(t('Asking the cluster …')) : nothing}
        ${state === 'answers' ? html`${icon('pass')}<span>${sentence}</span>` : nothing}
        ${state === 'answers' || state === 'failed' ? again : nothing}
      </div>
    </div>`;
  }

  private more({
    sources,
    data,
    places,
    cluster,
    groups,
    changed,
    recommendation,
    errors,
  }: FormView): TemplateResult {
    const isOpen = this.form?.isUnfolded === true;
    const wrong = Object.keys(errors).filter(isFolded).length;
    return html`<details
      class="more"
      ?open=${isOpen}
      @toggle=${(event: Event) => this.unfold((event.target as HTMLDetailsElement).open)}
    >
      <summary>
        <span class="summary">${t('More')}</span>
        ${
          wrong > 0 && !isOpen
            ? html`<span class="error"
                >${icon('error')}${wrong === 1 ? t('1 to fix') : t('{0} to fix', wrong)}</span
              >`
            : nothing
        }
        <span class="quiet">${changed === 0 ? recommendation : t('{0} changed', changed)}</span>
      </summary>
      <fieldset id="more-data">
        <legend>${t('Training data')}</legend>
        ${sources.length === 0 ? nothing : this.radios('source', t('Source'), sources)} ${this.fields(data)}
        ${this.data === undefined ? nothing : dataFigures(this.data)}
      </fieldset>
      ${
        places.length === 0
          ? nothing
          : html`<div class="where">
              ${this.radios('where', t('Where'), places)}
              ${cluster === undefined ? nothing : this.cluster(cluster)}
            </div>`
      }
      ${groups.map(
        ({ title, fields }) =>
          html`<fieldset>
            <legend>${title}</legend>
            ${this.fields(fields)}
          </fieldset>`,
      )}
      <p class="quiet">
        ${t('The file has a few more, such as a chat template of your own: open it as file to set them.')}
      </p>
    </details>`;
  }

  private fields(all: readonly FieldView[]): TemplateResult {
    const flags = all.filter(({ control }) => control === 'flag');
    const others = all.filter(({ control }) => control !== 'flag');
    return html`${others.length === 0 ? nothing : html`<div class="grid">${others.map((one) => this.field(one))}</div>`}
    ${flags.length === 0 ? nothing : html`<div class="flags">${flags.map((one) => this.field(one))}</div>`}`;
  }

  private plan(): TemplateResult | typeof nothing {
    const { estimate } = this;
    if (estimate === undefined) return nothing;
    return html`<section aria-labelledby="plan-title" class="needs">
      <h2 id="plan-title">${t('Resources and time')}</h2>
      ${estimateParts(estimate, this.isStarting)}
    </section>`;
  }

  private footer({ restriction }: FormView): TemplateResult {
    const { isStarting } = this;
    const { problem = '', checks = [] } = this.starting ?? {};
    const noData = this.data?.problem ?? '';
    const summary = noData === '' ? (this.estimate?.summary ?? '') : noData;
    return html`<footer>
      ${
        problem === ''
          ? nothing
          : html`<div class="problem" role="alert">
              <p class="error">${icon('error')}<span class="sentence">${problem}</span></p>
              ${checkList(checks)}
            </div>`
      }
      <div class="line">
        ${button({
          id: 'start',
          label: t('Start'),
          kind: 'primary',
          icon: 'play',
          key: 'Control+Enter',
          disabled: isStarting || restriction !== '' || noData !== '',
          onPress: () => this.start(),
        })}
        ${button({
          label: t('Open as file'),
          icon: 'json',
          title: t('The configuration, as tandem train takes it'),
          onPress: () => act('openFile'),
        })}
        ${
          isStarting
            ? html`${button({ label: t('Cancel'), onPress: () => act('cancel') })}
                <span class="quiet summary"
                  >${progress(t('Starting … Nothing can be changed here until the run has started.'))}</span
                >`
            : html`<span class="quiet summary">${summary}</span>`
        }
      </div>
    </footer>`;
  }

  private field(view: FieldView): TemplateResult {
    const { name, label, about, control, options = [], placeholder, warning, isChanged } = view;
    const canReset = name in (this.shown?.values ?? {}) && !name.startsWith('data.with_');
    const beside =
      isChanged && canReset
        ? iconButton({
            icon: 'discard',
            label: t('{0}: reset to the recommended value', label),
            onPress: () => this.reset(name),
          })
        : undefined;
    const common = { ...this.control(name, label), about, warning, beside };
    if (control === 'flag')
      return checkControl({
        ...common,
        isOn: common.value === 'true',
        onChange: (isOn) => this.set({ [name]: String(isOn) }),
      });
    if (control === 'choice') return selectControl({ ...common, options });
    return textControl({ ...common, placeholder });
  }

  private control(name: string, label: string) {
    return {
      id: idOf(name),
      label,
      value: this.value(name),
      error: this.shown?.errors[name] ?? '',
      onChange: (value: string) => this.set({ [name]: value }),
    };
  }

  private radios(name: string, label: string, choices: readonly Option[]): TemplateResult {
    const onChoose = (value: string): void => this.set({ [name]: value });
    return radioGroup({ id: name, label, value: this.value(name), choices, onChoose });
  }

  private value(name: string): string {
    return this.form?.values[name] ?? this.shown?.values[name] ?? '';
  }

  private set(values: Values): void {
    this.changeTo({ ...this.form?.values, ...values });
  }

  private reset(name: string): void {
    const others = Object.entries(this.form?.values ?? {}).filter(([one]) => one !== name);
    this.changeTo(Object.fromEntries(others));
  }

  private changeTo(values: Values): void {
    if (this.form === undefined) return;
    this.form = { ...this.form, values };
    api.setState(this.form);
    api.postMessage({ type: 'change', values });
  }

  private unfold(isUnfolded: boolean): void {
    if (this.form === undefined || (this.form.isUnfolded ?? false) === isUnfolded) return;
    this.form = { ...this.form, isUnfolded };
    api.setState(this.form);
  }

  /** Opens *More* at a field in it that has become wrong, unless it is being typed into. */
  private revealWrong(errors: Values): void {
    const wrong = Object.keys(errors).find(
      (name) => isFolded(name) && this.shown?.errors[name] === undefined,
    );
    if (wrong === undefined || document.activeElement?.id === idOf(wrong)) return;
    this.unfold(true);
    void this.updateComplete.then(() =>
      document.getElementById(idOf(wrong))?.scrollIntoView({ block: 'center' }),
    );
  }

  private changeData(): void {
    this.unfold(true);
    void this.updateComplete.then(() => {
      const data = document.getElementById('more-data');
      data?.querySelector<HTMLElement>('input, select')?.focus({ preventScroll: true });
      data?.scrollIntoView();
    });
  }

  /** Starts the run, or focuses the first field that has an error. */
  private start(): void {
    const wrong = Object.keys(this.shown?.errors ?? {})[0];
    if (wrong !== undefined) {
      if (isFolded(wrong)) this.unfold(true);
      void this.updateComplete.then(() => document.getElementById(idOf(wrong))?.focus());
      return;
    }
    if (this.isStarting || (this.data?.problem ?? '') !== '') return;
    // Lock the form now, so that the run starts with what is shown; the host answers with a `start` message.
    this.starting = { type: 'start', isStarting: true, problem: '', checks: [] };
    this.said = t('Starting … Nothing can be changed here until the run has started.');
    act('start');
  }

  private refocus(): void {
    if (document.activeElement !== document.body) return;
    void this.updateComplete.then(() => document.getElementById('start')?.focus());
  }
}

function titleOf({ copied, values }: FormState): string {
  if (copied !== undefined) return t('New run like {0}', copied.of);
  return values.role === 'collaborator' ? t('Fit a simulator') : t('New run');
}

/** Fields that are always in sight; all others are under *More*. */
const IN_SIGHT: readonly string[] = ['base', 'hub', 'method', 'model.device'];
const isFolded = (name: string): boolean => !IN_SIGHT.includes(name);

const idOf = (name: string): string => `field-${name.replaceAll('.', '-')}`;
