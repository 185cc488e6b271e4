/** The PNG in Base64; null stands for the black square of a dialogue without a page. */
export type PictureRequest = string | null;

/** Components of the picture's direction, as CLIP projects it; not normalized. */
export type PictureEmbedding = readonly number[];
