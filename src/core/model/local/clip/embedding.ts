// The embedding process: CLIP's half that reads pictures. `ClipEmbedder` starts it and talks to it.

import { Fault } from '../../../fault';
import { BLACK_PICTURE, CLIP_SIDE, clipInput, decodePng } from '../../../page/clipInput';
import { createSession } from '../graph';
import { answerRequests } from '../requestProcess';
import { Tensor, type InferenceSession } from '../runtime';
import { clipGraph, type PictureEmbedding, type PictureRequest } from './clipFolder';

/** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
async function load(folder: string): Promise<InferenceSession> {
  const { graph } = clipGraph(folder);
  const session = await createSession(graph);
  if (session.inputNames.join() !== 'pixel_values' || !session.outputNames.includes('image_embeds'))
    throw new Fault(
      'model/foreign-folder',
      `${graph} is not CLIP's half that reads pictures. Fetch it with: tandem download clip`,
    );
  return session;
}

/** pixel_values (1, 3, 224, 224) → image_embeds (1, 512) */
async function embed(png: PictureRequest, session: InferenceSession): Promise<PictureEmbedding> {
  const input = clipInput(png === null ? BLACK_PICTURE : decodePng(Buffer.from(png, 'base64')));
  const { image_embeds } = await session.run(
    { pixel_values: new Tensor('float32', input, [1, 3, CLIP_SIDE, CLIP_SIDE]) },
    ['image_embeds'],
  );
  return [...(image_embeds!.data as Float32Array)];
}

answerRequests(load, embed);
