import type { Static } from '@sinclair/typebox'
import type { FileObject } from '../../../domain/run/file.ts'
import type { RunFileV2 } from './run-schemas.ts'

/** `files`: with fresh addresses. The ID of a file is its place in the list. */
export function filesV2(files: readonly FileObject[] | null): Static<typeof RunFileV2>[] | null {
  if (files === null) return null
  return files.map(({ name, size, type, url }, index) => ({ id: `${index + 1}`, name, size, type, downloadPath: url }))
}
