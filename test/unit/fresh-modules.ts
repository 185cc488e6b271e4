import { vi } from 'vitest';

// A worker runs many files, because starting a worker takes longer than most files. Each file gets fresh modules, so
// that it does not see the mocks and changes of another. A file must undo its own changes of globals.
vi.resetModules();
