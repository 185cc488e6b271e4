import type { FrameLocator, Locator } from 'playwright-core';

/** Intervals between the frames of a page, in milliseconds. */
export interface Frames {
  readonly median: number;
  readonly p95: number;
  readonly longest: number;
}

/** Records the frames of a webview while work goes on in it. */
export async function framesDuring(webview: FrameLocator, work: () => Promise<unknown>): Promise<Frames> {
  const meter = await webview.locator('html').evaluateHandle(() => {
    const drawn: number[] = [];
    let isRunning = true;
    const next = (at: number): void => {
      drawn.push(at);
      if (isRunning) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    return {
      stop: () => {
        isRunning = false;
        return drawn;
      },
    };
  });
  await work();
  const drawn = await meter.evaluate(({ stop }) => stop());
  const apart = drawn.slice(1).map((at, index) => at - drawn[index]!);
  return { median: quantile(apart, 0.5), p95: quantile(apart, 0.95), longest: Math.max(...apart) };
}

/** Scrolls from the end to the beginning, one screen per frame. */
export function scrollThrough(main: Locator): Promise<void> {
  return main.evaluate(
    (element) =>
      new Promise<void>((resolve) => {
        const next = (): void => {
          if (element.scrollTop === 0) {
            resolve();
            return;
          }
          element.scrollTop -= element.clientHeight;
          requestAnimationFrame(next);
        };
        element.scrollTop = element.scrollHeight;
        requestAnimationFrame(next);
      }),
  );
}

/** Returns the first paint of a webview, in milliseconds since its frame was created. */
export async function firstPaint(webview: FrameLocator): Promise<number> {
  return webview.locator('html').evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const look = (tries: number): void => {
          const [paint] = performance.getEntriesByName('first-contentful-paint');
          if (paint !== undefined) resolve(paint.startTime);
          else if (tries === 0) reject(new Error('The webview has drawn nothing.'));
          else requestAnimationFrame(() => look(tries - 1));
        };
        look(300);
      }),
  );
}

export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))]!;
}
