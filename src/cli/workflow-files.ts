import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { CommandError } from './command.ts'

/** A workflow document as it stands in a file; nothing but JSON is promised of it. */
export type WorkflowFile = { path: string; value: unknown }

/** Reads documents: files as they are named, folders with every `.json` file below them. Throws with every problem. */
export function readWorkflowFiles(paths: readonly string[]): WorkflowFile[] {
  const problems: string[] = []
  const files: WorkflowFile[] = []
  for (const path of new Set(paths.flatMap((path) => expand(path, problems)))) {
    try {
      files.push({ path, value: JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) })
    } catch (error) {
      problems.push(`${path}: ${error instanceof SyntaxError ? `no JSON: ${error.message}` : messageOf(error)}`)
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'), 'Nothing was changed.')
  return files
}

function expand(path: string, problems: string[]): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const found = readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(path, name))
      .filter((file) => statSync(file).isFile())
      .toSorted()
    if (found.length === 0) problems.push(`${path}: the folder holds no .json file`)
    return found
  } catch (error) {
    problems.push(`${path}: ${messageOf(error)}`)
    return []
  }
}
