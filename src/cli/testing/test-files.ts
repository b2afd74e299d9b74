import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, messageOf } from '../../domain/errors.ts'
import { readJson } from '../../domain/text/json.ts'
import { readDocument } from '../../domain/workflow/document.ts'
import { type Mock, splitMocks } from '../../domain/workflow/mocks.ts'
import { readTestFile } from '../../domain/workflow/test-file.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { TestFile, WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import { CommandError, UsageError } from '../command.ts'

export const testEnding = '.test.json'

/** The test files in the paths: files themselves, and all `*.test.json` below folders, in order. */
export function findTestFiles(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (!facts) throw new UsageError(`There is no file or folder ${path}.`, 'More: millrace test --help')
    if (facts.isDirectory()) return below(path)
    if (path.endsWith(testEnding)) return [path]
    throw new UsageError(
      `${path} is not a test file: its name must end in ${testEnding}.`,
      'More: millrace test --help',
    )
  })
  const files = [...new Map(found.map((file) => [resolve(file), file])).values()]
  if (files.length > 0) return files
  throw new UsageError(`There are no ${testEnding} files in ${paths.join(', ')}.`, 'More: millrace test --help')
}

function below(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : below(path)
      return entry.name.endsWith(testEnding) ? [path] : []
    })
}

/** A file of tests with the document that it tests. `raw`: the content as written. */
export type LoadedTests = { path: string; raw: Record<string, unknown>; file: TestFile; workflow: LoadedDocument }
export type LoadedDocument = { path: string; document: WorkflowDocument; pins: readonly Mock[] }

/** Throws an error whose message lists all problems. */
export function loadTests(path: string, folders: Folders): LoadedTests {
  const raw = jsonOf(path)
  const reading = readTestFile(raw)
  if ('details' in reading) throw new Error(reading.details.map(({ message }) => message).join('\n'))
  const { file } = reading
  return { path, raw: raw as Record<string, unknown>, file, workflow: documentOf(path, file.workflow, folders) }
}

export function saveTests({ path, raw }: LoadedTests, tests: TestFile['tests']): void {
  writeFileSync(path, `${JSON.stringify({ ...raw, tests }, null, 2)}\n`)
}

/** Adds a test to a file, which it creates if there is none. The name gets a number if the file has it already. */
export function addTest(path: string, test: WorkflowTest): WorkflowTest {
  const raw = existsSync(path) ? jsonOf(path) : { tests: [] }
  const reading = readTestFile(raw)
  if ('details' in reading)
    throw new CommandError(`${path}: ${reading.details.map(({ message }) => message).join('\n')}`)
  const { tests } = reading.file
  const taken = new Set(tests.map(({ name }) => name))
  let name = test.name
  for (let number = 2; taken.has(name); number += 1) name = `${test.name} (${number})`
  const added = { ...test, name }
  const text = JSON.stringify({ ...(raw as object), tests: [...tests, added] }, null, 2)
  try {
    writeFileSync(path, `${text}\n`)
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${messageOf(error)}`)
  }
  return added
}

/** The document that a test file names: a file beside it, or the name of a workflow in one. */
function documentOf(path: string, named: string | undefined, folders: Folders): LoadedDocument {
  const folder = dirname(path)
  const file = join(folder, named ?? `${basename(path).slice(0, -testEnding.length)}.json`)
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return readDocumentFile(file)
  if (named === undefined) {
    throw new Error(`There is no ${file}. Put the document there, or name it in the test file: "workflow".`)
  }
  const called = folders.of(folder).filter(({ document }) => document.name === named)
  if (called.length === 1 && called[0]) return called[0]
  if (called.length > 1) {
    const files = called.map((each) => basename(each.path)).join(', ')
    throw new Error(`workflow: several documents are called "${named}": ${files}. Name the file.`)
  }
  throw new Error(`workflow: there is no file ${named} in ${folder}, and no document there is called "${named}".`)
}

/** The documents in folders. Each folder is read once, when something in it is first needed. */
export class Folders {
  readonly #known = new Map<string, readonly LoadedDocument[]>()

  of(folder: string): readonly LoadedDocument[] {
    const known = this.#known.get(folder)
    if (known) return known
    const files = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.endsWith(testEnding))
    const documents = files.toSorted().flatMap((name): LoadedDocument[] => {
      try {
        return [readDocumentFile(join(folder, name))]
      } catch {
        // Other JSON files may be beside documents.
        return []
      }
    })
    this.#known.set(folder, documents)
    return documents
  }
}

function readDocumentFile(path: string): LoadedDocument {
  const { document: written, mocks, problem } = splitMocks(jsonOf(path))
  if (problem !== undefined) throw new Error(`${path}: ${problem}`)
  const reading = readDocument(written)
  if ('details' in reading) throw new Error(reading.details.map(({ message }) => `${path}: ${message}`).join('\n'))
  return { path, document: reading.document, pins: mocks }
}

function jsonOf(path: string): unknown {
  try {
    return readJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), { what: path })
  } catch (error) {
    throw new CommandError(error instanceof AppError ? error.message : `${path} cannot be read: ${messageOf(error)}`)
  }
}
