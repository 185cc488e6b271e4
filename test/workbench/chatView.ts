import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

import type { WorkbenchDriver } from './driver';
import { insisting } from './retries';

/** A request that the starter model and models trained from it understand. */
export const parking =
  'Please help me with the bill for parking in our garage. You get a list with the minutes of every day, and the rate per minute. We bill in whole numbers. A long stay has a highest price. The signature of the function is: def lot_bill(minutes, rate)';

/** Settings of the chat: agent mode is off, because it does not offer models that call no tools. */
export const chatSettings = {
  'chat.disableAIFeatures': false,
  'chat.agent.enabled': false,
  'chat.newSession.defaultMode': 'ask',
};

/** Operates the workbench's chat as a person does. */
export class ChatView {
  constructor(private readonly workbench: WorkbenchDriver) {}

  get content(): Locator {
    return this.workbench.page.locator('.part.auxiliarybar .interactive-session');
  }

  get input(): Locator {
    return this.content.locator('.interactive-input-part .monaco-editor').last();
  }

  /**
   * A question of the agent, to which a reply is suggested, or its answer to `parking`: a sampled model may do either at
   * any turn.
   */
  get asksOrAnswers(): Locator {
    const code = this.content.locator('.interactive-response .view-line', { hasText: 'def lot_bill' });
    return this.content.getByText('Answer now').or(code).first();
  }

  /** Sends a message to the current participant, and waits until the chat has taken it. */
  async say(text: string): Promise<void> {
    const { keyboard } = this.workbench.page;
    if (!text.startsWith('@tandem')) await this.input.getByText('@tandem').waitFor();
    // A word is never broken between two lines.
    const word = text.split(' ').at(-1)!;
    await insisting(async (options) => {
      await this.input.click(options);
      await this.content.locator('.interactive-input-part .monaco-editor.focused').waitFor(options);
      if (!(await this.#typed()).includes(word)) await keyboard.insertText(text);
      await expect.poll(() => this.#typed(), options).toContain(word);
    });
    await insisting(async (options) => {
      await keyboard.press('Enter');
      await expect.poll(() => this.#typed(), options).not.toContain(word);
    });
  }

  #typed(): Promise<string> {
    return this.input.locator('.view-lines').innerText();
  }

  /**
   * Opens the list of models and does something in it. The chat redraws its button whenever it learns of a model, which
   * closes the list or misdirects a click, and before the first model it shows another list. In these cases this
   * retries.
   */
  async inPicker(
    act: (list: Locator, options: { readonly timeout: number }) => Promise<void>,
  ): Promise<void> {
    const list = this.workbench.page.locator('.action-widget').first();
    await insisting(async (options) => {
      if (await list.isVisible()) await this.workbench.page.keyboard.press('Escape');
      await list.waitFor({ state: 'hidden', ...options });
      await this.content.locator('.model-picker-name').click(options);
      await list.getByPlaceholder('Search models').waitFor(options);
      await act(list, options);
    });
  }

  async pickModel(name: string): Promise<void> {
    await this.inPicker(async (list, options) => {
      await list.getByPlaceholder('Search models').fill(name, options);
      await list.getByRole('option', { name: new RegExp(`^${name}`) }).click(options);
      await expect.poll(() => this.content.locator('.model-picker-name').textContent(), options).toBe(name);
    });
  }
}
