import { vi } from 'vitest';

// A worker runs many files, because starting one takes longer than most of them. Each file has modules of its own all the
// same, or one would see what another has mocked and changed. What a file does to a global it takes back itself.
vi.resetModules();
