/** A model as the settings name it, without its server or folders, as far as it takes to tell two apart. */
export function shortened(model: string): string {
  const script = /^script:(?:.*[\\/])?([^\\/]+?)(?:\.json)?$/.exec(model)?.[1];
  // The folder of a trained model is called `model`, in the folder of its run.
  const folder = /^local:(?:.*?[\\/])?((?:[^\\/]+[\\/])?model|[^\\/]+)[\\/]*$/.exec(model)?.[1];
  return script ?? folder ?? model.replace(/^openai:/, '').replace(/@https?:\/\/.*/is, '');
}
