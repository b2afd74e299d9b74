import type { FileStore } from '../../src/domain/run/file.ts'

/** For tests of what stores no files. */
export const noFiles: FileStore = {
  store: () => Promise.reject(new Error('This test stores no files')),
  read: () => Promise.resolve(undefined),
}
