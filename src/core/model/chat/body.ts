/** Maximum number of bytes read of an error or a list of models; real ones are shorter. */
const MOST_BYTES = 2 ** 20;

/** Returns the text of a body that is not an answer, up to `MOST_BYTES`; it does not wait for the rest. */
export async function textOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= MOST_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MOST_BYTES));
}

/** Works like the platform's `fetch`, but limits the body of an error, which the `openai` package reads to its end. */
export const boundedFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (response.ok || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await textOf(response), { status, statusText, headers });
};
