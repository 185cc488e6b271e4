/** Size of a picture in CSS pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The agent is told to take its pictures from this host, with their size in the address. */
const PICTURE_HOST =
  /^(?:https?:)?\/\/picsum\.photos\/(?:id\/\d+\/|seed\/[^/]+\/)?(\d{1,4})(?:\/(\d{1,4}))?/i;

/** Size of a picture whose address has none. */
const DEFAULT_SIZE: PictureSize = { width: 300, height: 200 };

/** The size that an address on the agent's picture host asks for; a broken tail (`/300/200-estate`) is ignored. */
export function sizeInAddress(address: string): PictureSize {
  const [, width, height = width] = PICTURE_HOST.exec(address.trim()) ?? [];
  return width === undefined || Number(width) === 0 || Number(height) === 0
    ? DEFAULT_SIZE
    : { width: Number(width), height: Number(height) };
}

/** An SVG as a data URL: grey, with its diagonals, so that it is seen to stand for a picture and where it is cropped. */
export function placeholder({ width, height }: PictureSize): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="#c8ccd2"/>` +
    `<path d="M0 0L${width} ${height}M${width} 0L0 ${height}" stroke="#a7adb6"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** A picture that the page brings along. */
export const isOwnPicture = (address: string): boolean =>
  /^\s*data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,]/i.test(address);
