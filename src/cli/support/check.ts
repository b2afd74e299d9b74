import { registry } from '../../blocks/registry.ts'
import { type Config, limitsOf } from '../../config.ts'
import { readDocument } from '../../domain/workflow/document.ts'
import { splitMocks } from '../../domain/workflow/mocks.ts'
import { readTestFile } from '../../domain/workflow/test-file.ts'
import type { Finding, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { compilePlan } from '../../engine/compile/plan.ts'
import { CommandError } from '../command.ts'
import type { PushDocument } from './push.ts'
import { readTestsBeside, testFileOf, type WorkflowFile } from './workflow-files.ts'

/**
 * Checks documents like the service: always their shape, and their meaning when they will be deployed. Throws all
 * problems of all documents at once, before anything is changed.
 */
export function checkWorkflowFiles(
  files: readonly WorkflowFile[],
  { deploy, config }: { deploy: boolean; config: Config },
): PushDocument[] {
  const problems: string[] = []
  const documents: PushDocument[] = []
  for (const { path, value } of files) {
    const { document, mocks, problem } = splitMocks(value)
    if (problem !== undefined) problems.push(`${path}: ${problem}`)
    const reading = readDocument(document)
    if ('details' in reading) {
      problems.push(...reading.details.map(({ message }) => `${path}: ${message}`))
      continue
    }
    documents.push({ path, document: reading.document, mocks, ...testsOf(path, problems) })
    if (deploy)
      problems.push(...errorsIn(reading.document, config).map((finding) => `${path}: ${findingText(finding)}`))
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'), 'Nothing was changed.')
  return documents
}

/** The tests in the file beside a document. */
function testsOf(path: string, problems: string[]): Pick<PushDocument, 'tests'> {
  const value = readTestsBeside(path)
  if (value === undefined) return {}
  const file = testFileOf(path)
  const reading = readTestFile(value)
  if ('file' in reading) return { tests: reading.file.tests }
  problems.push(...reading.details.map(({ message }) => `${file}: ${message}`))
  return {}
}

function errorsIn(document: WorkflowDocument, config: Config): Finding[] {
  return compilePlan(document, registry, limitsOf(config)).findings.filter(({ level }) => level === 'error')
}

/** A finding as one line for people. */
export function findingText({ level, message, path }: Finding): string {
  return `${level}: ${message} (${path})`
}
