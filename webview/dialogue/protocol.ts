export { withVisibleControls } from './untrusted';

/** Shortens a model's name in the settings: it removes the server and all folders that do not tell models apart. */
export function shortened(model: string): string {
  const script = /^script:(?:.*[\\/])?([^\\/]+?)(?:\.json)?$/.exec(model)?.[1];
  // The folder of a trained model is called `model`, in the folder of its run.
  const folder = /^local:(?:.*?[\\/])?((?:[^\\/]+[\\/])?model|[^\\/]+)[\\/]*$/.exec(model)?.[1];
  return script ?? folder ?? model.replace(/^openai:/, '').replace(/@https?:\/\/.*/is, '');
}
