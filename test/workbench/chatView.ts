import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

import { insisting, type WorkbenchDriver } from './driver';

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

  /** Sends a message to the current participant. */
  async say(text: string): Promise<void> {
    await this.input.click();
    if (!text.startsWith('@tandem')) await this.input.getByText('@tandem').waitFor();
    await this.workbench.page.keyboard.insertText(text);
    await this.workbench.page.keyboard.press('Enter');
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
