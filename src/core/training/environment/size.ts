interface EnvironmentSize {
  /** Both in bytes. */
  readonly download: number;
  readonly disk: number;
}

/** Of the locked packages, as measured. On Linux PyTorch includes CUDA. */
export const environmentSize = (platform: NodeJS.Platform = process.platform): EnvironmentSize =>
  platform === 'linux' ? { download: 3.1e9, disk: 5.7e9 } : { download: 0.22e9, disk: 1e9 };
