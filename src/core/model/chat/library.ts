/** The parts of the package `openai` that Tandem uses. */
export { APIConnectionError, APIError, OpenAI } from 'openai';
export { Stream } from 'openai/streaming';
