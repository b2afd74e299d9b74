import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Connector } from '../../domain/connector/connector.ts'
import { connectorFaults } from '../../domain/connector/validate.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { readJson } from '../../domain/text/json.ts'
import { type Call, CommandError, UsageError } from '../command.ts'

/** A workflow document from a file. `value` is any JSON. */
export type WorkflowFile = { path: string; value: unknown }

/** The file with the tests of a workflow, beside the file of its document. */
export function testFileOf(path: string): string {
  return `${path.replace(/\.json$/, '')}${testSuffix}`
}

const testSuffix = '.test.json'

/** The content of the test file beside a document; undefined when there is none. */
export function readTestsBeside(path: string): unknown {
  const file = testFileOf(path)
  return existsSync(file) ? readWorkflowFile(file) : undefined
}

/**
 * Reads documents from files, and from all `.json` files below folders, except those with tests. Throws with all
 * problems at once.
 */
export function readWorkflowFiles(paths: readonly string[]): WorkflowFile[] {
  const problems: string[] = []
  const files: WorkflowFile[] = []
  for (const path of new Set(paths.flatMap((path) => expand(path, problems)))) {
    try {
      files.push({ path, value: read(path) })
    } catch (error) {
      problems.push(problemOf(path, error))
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'), 'Nothing was changed.')
  return files
}

/** Reads one document from a file. Throws with the problem. */
export function readWorkflowFile(path: string): unknown {
  if (statSync(path).isDirectory()) throw new CommandError(`${path} is a folder. Name the file of one workflow in it.`)
  try {
    return read(path)
  } catch (error) {
    throw new CommandError(problemOf(path, error))
  }
}

function read(path: string): unknown {
  return readJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), { what: path })
}

function problemOf(path: string, error: unknown): string {
  return error instanceof AppError ? error.message : `${path}: ${messageOf(error)}`
}

function expand(path: string, problems: string[]): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const found = readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json') && !name.endsWith(testSuffix))
      .map((name) => join(path, name))
      .filter((file) => statSync(file).isFile())
      .toSorted()
    if (found.length === 0) problems.push(`${path}: the folder contains no .json file`)
    return found
  } catch (error) {
    problems.push(`${path}: ${messageOf(error)}`)
    return []
  }
}

/** The connectors in the files that the call names, by ID. */
export function connectorFiles({ lists }: Pick<Call, 'lists'>): ReadonlyMap<string, Connector> {
  const found = (lists['connectors'] ?? []).map((path): [string, Connector] => {
    const document = parsed(readText(path), path)
    const [fault] = connectorFaults(document)
    if (fault) throw new CommandError(`${path}: ${fault.path}: ${fault.message}`)
    return [(document as Connector).id, document as Connector]
  })
  return new Map(found)
}

/** JSON that the caller gave. */
export function parsed(text: string, what: string): unknown {
  try {
    return readJson(text, { what })
  } catch (error) {
    if (error instanceof AppError) throw new UsageError(error.message, 'More: millrace --help')
    throw error
  }
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`)
  }
}
