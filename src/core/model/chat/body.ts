/** Limit for an error or a list of models; real ones are shorter. */
const MAX_BYTES = 2 ** 20;

/** Does not wait for the rest of the body after `most` bytes. */
export async function textOf({ body }: Response, most = MAX_BYTES): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= most) break;
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, most));
}

/** Works like the platform's `fetch`, but limits the body of an error, which the `openai` package reads to its end. */
export const boundedFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (response.ok || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await textOf(response), { status, statusText, headers });
};
