/** What an error or a list of models says is read up to here; nobody says more in earnest. Bytes. */
const MOST_BYTES = 2 ** 20;

/** The text of a body that is no answer, up to `MOST_BYTES`; the rest is not waited for. */
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

/** The platform's `fetch`, but for what a server says of an error: the `openai` package reads that to its end. */
export const boundedFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (response.ok || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await textOf(response), { status, statusText, headers });
};
