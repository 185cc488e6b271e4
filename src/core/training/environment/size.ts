export interface EnvironmentSize {
  /** In bytes. */
  readonly download: number;
  readonly disk: number;
}

/** About what the packages of the lock take; measured. On Linux PyTorch brings CUDA with it. */
export const environmentSize = (platform: NodeJS.Platform = process.platform): EnvironmentSize =>
  platform === 'linux' ? { download: 3.1e9, disk: 5.7e9 } : { download: 0.22e9, disk: 1e9 };
