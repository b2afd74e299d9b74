import { isObject } from '../domain/run/input.ts'
import type { BlockContext } from '../engine/block.ts'
import { isFileObject } from './api/files.ts'

/** Adds the files that people sent with their answers to the run, so that later blocks can read them. */
export function restoreFiles(answers: unknown, { files }: Pick<BlockContext, 'files'>): void {
  for (const answer of Array.isArray(answers) ? answers : []) {
    const fields: unknown = isObject(answer) ? answer['fields'] : undefined
    for (const value of Object.values(isObject(fields) ? fields : {})) {
      for (const file of Array.isArray(value) ? value : []) if (isFileObject(file)) files.restore(file)
    }
  }
}
