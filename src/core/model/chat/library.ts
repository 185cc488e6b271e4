/**
 * What Tandem takes of the package `openai`. It is the largest that the extension host has, and is built into a file of
 * its own (`esbuild.js`), which nothing reads before a server is asked.
 */
export { APIConnectionError, APIError, OpenAI } from 'openai';
export { Stream } from 'openai/streaming';
