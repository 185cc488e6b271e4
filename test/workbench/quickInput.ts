// What a person does with the list or the question that is open over the window.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { escaped, guardRow } from './guard';
import { insisting } from './retries';

/** The list or the question that is open over the window, which the workbench calls its quick input. */
export class QuickInput {
  constructor(private readonly page: Page) {}

  get widget(): Locator {
    return this.page.locator('.quick-input-widget');
  }

  /** Finds the first row of the open list that has a text. */
  listed(text: RegExp | string): Locator {
    return this.widget.locator('.quick-input-list-row', { hasText: text }).first();
  }

  /** Presses a row of the open list, which chooses it, or ticks it where several can be chosen. */
  async pick(text: RegExp | string): Promise<void> {
    await insisting((options) => this.pressRow(text, options));
  }

  /** Ticks rows of the open list, in which several can be chosen. */
  async tick(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const box = this.widget.locator('.monaco-list-row', { hasText: text }).first();
      await insisting(async (options) => {
        if ((await box.getAttribute('aria-checked', options)) !== 'true') await this.pressRow(text, options);
        await expect.poll(() => box.getAttribute('aria-checked'), options).toBe('true');
      });
    }
  }

  /** Ticks rows of the open list, and accepts what is ticked. */
  async pickSeveral(...texts: readonly string[]): Promise<void> {
    await this.tick(...texts);
    await this.widget.getByRole('button', { name: 'OK' }).click();
  }

  /**
   * Presses the first row with a text. A list may set its rows anew under the mouse, and shows them in the elements of
   * the ones before; so a press goes through only while the row under it has the text. A hover that is open where the
   * pointer rests may cover the row, so the pointer leaves first; one whose target moved away, as when the window gets
   * another size, closes only once the pointer was on it.
   * @throws Error when it did not go through
   */
  async pressRow(text: RegExp | string, options: { readonly timeout?: number }): Promise<void> {
    const { source, flags } = typeof text === 'string' ? new RegExp(escaped(text), 'i') : text;
    const hover = this.page.locator('.context-view .hover-contents').first();
    if (await hover.isVisible()) await hover.hover(options).catch(() => undefined); // it may close by itself
    await this.page.mouse.move(0, 0);
    const guard = await this.page.evaluateHandle(guardRow, { source, flags });
    const endGuard = (): Promise<boolean> => guard.evaluate((end) => end());
    try {
      await this.listed(text).click(options);
    } catch (error) {
      await endGuard();
      throw error;
    }
    if (!(await endGuard())) throw new Error(`The list was filled anew while “${String(text)}” was pressed.`);
  }

  /**
   * Answers a question of the quick input. All questions share one field, so text that is typed before its question
   * appears is lost; and the field is visible a moment before it has the focus.
   * @param question text of this question only
   * @param value text to type; by default the proposed value is accepted
   */
  async answer(question: RegExp | string, value?: string): Promise<void> {
    const input = this.widget.locator('input.input');
    const asked = this.widget.getByText(question).first();
    await asked.waitFor();
    if (value !== undefined) {
      await input.fill(value);
      await expect.poll(() => input.inputValue()).toBe(value);
    }
    await insisting(async (options) => {
      // A list that is still being filled takes no answer.
      if (await asked.isVisible()) await input.press('Enter', options);
      // The input is validated first, and lost if another question opens meanwhile.
      await asked.waitFor({ state: 'hidden', ...options });
    });
  }

  /**
   * Closes the open question, or goes back to the one before. A key that comes while a question is just opened is lost;
   * then it is pressed again.
   */
  async dismiss(): Promise<void> {
    const widget = this.widget;
    const title = widget.locator('.quick-input-title');
    await widget.waitFor();
    const asked = await title.textContent();
    const isOpen = async (): Promise<boolean> =>
      (await widget.isVisible()) && (await title.textContent()) === asked;
    await insisting(async (options) => {
      if (await isOpen()) await widget.locator('input.input').press('Escape', options);
      await expect.poll(isOpen, options).toBe(false);
    });
  }

  /**
   * Types a path into the workbench's file dialog. The dialog may still overwrite it with a suggestion, and takes no
   * answer while it reads a folder; then the path is typed again.
   */
  async chooseFile(file: string): Promise<void> {
    const widget = this.widget;
    const input = widget.locator('input.input');
    await input.waitFor();
    await insisting(async (options) => {
      while ((await widget.isVisible()) && (await input.inputValue(options)) !== file) {
        await input.fill(file, options);
        await this.page.waitForTimeout(700);
      }
      if (await widget.isVisible()) await input.press('Enter', options);
      // The dialog reads the folder before it accepts the name, and anything that opens meanwhile would cancel it.
      await widget.waitFor({ state: 'hidden', ...options });
    });
  }
}
