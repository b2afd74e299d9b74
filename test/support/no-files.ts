import type { FileStore } from '../../src/domain/run/file.ts'

/** A file store for tests that must not store files. */
export const noFiles: FileStore = {
  store: () => Promise.reject(new Error('This test stores no files')),
  read: () => Promise.resolve(undefined),
  open: () => Promise.resolve(undefined),
  hold: () => Promise.reject(new Error('This test stores no files')),
  drafts: () => Promise.reject(new Error('This test stores no files')),
}
