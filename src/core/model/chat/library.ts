/** What Tandem takes of the package `openai`. */
export { APIConnectionError, APIError, OpenAI } from 'openai';
export { Stream } from 'openai/streaming';
