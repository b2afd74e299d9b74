import { AppError } from '../../domain/errors.ts'
import type { Redactor } from '../../domain/redaction/redactor.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { testsBytesMax, testsMax, type WorkflowTest } from '../../domain/workflow/workflow-test.ts'

export type WorkflowTestsOptions = {
  get(workflowId: string): Promise<{ content: string; revision: number; updatedAt: number } | undefined>
  set(workflowId: string, tests: { content: string; at: number } & Save): Promise<number>
  /** The secrets of a workspace. */
  secretsOf(workspaceId: string): Promise<Redactor | undefined>
  inSlices: InSlices
  now(): number
}

export type SavedTests = { tests: WorkflowTest[]; revision: number; updatedAt?: number }

type Save = { by: string; ifRevision?: number | undefined }
type Draft = { id: string; workspaceId: string; document: WorkflowDocument }

/** The tests of workflows on the service. */
export class WorkflowTests {
  readonly #options: WorkflowTestsOptions

  constructor(options: WorkflowTestsOptions) {
    this.#options = options
  }

  async of(workflowId: string): Promise<SavedTests> {
    const row = await this.#options.get(workflowId)
    if (!row) return { tests: [], revision: 0 }
    return { tests: JSON.parse(row.content), revision: row.revision, updatedAt: row.updatedAt }
  }

  /**
   * Replaces all tests. A secret of the workspace is saved as `{{NAME}}`, so that a test file can be kept with source
   * code. Throws INVALID_INPUT when two tests have the same name, PAYLOAD_TOO_LARGE beyond the budgets, CONFLICT when
   * the tests were saved after `ifRevision`.
   */
  async save({ id, workspaceId }: Draft, tests: readonly WorkflowTest[], save: Save) {
    assertNames(tests)
    const { secretsOf, set, now } = this.#options
    const secrets = await secretsOf(workspaceId)
    const text = JSON.stringify(tests)
    const content = secrets ? await this.#options.inSlices(secrets.redactInSlices(text)) : text
    const bytes = Buffer.byteLength(content)
    if (bytes > testsBytesMax) {
      const message = `The tests of a workflow may have at most ${testsBytesMax} bytes as JSON. These have ${bytes}.`
      throw new AppError('PAYLOAD_TOO_LARGE', message)
    }
    const updatedAt = now()
    return { revision: await set(id, { content, at: updatedAt, ...save }), updatedAt }
  }
}

function assertNames(tests: readonly WorkflowTest[]): void {
  if (tests.length > testsMax) {
    throw new AppError('PAYLOAD_TOO_LARGE', `A workflow may have at most ${testsMax} tests, not ${tests.length}.`)
  }
  const names = new Set<string>()
  for (const [index, { name }] of tests.entries()) {
    if (names.has(name)) {
      const message = `Two tests are called "${name}". Each test needs a name of its own.`
      throw new AppError('INVALID_INPUT', message, { details: [{ path: `tests[${index}].name`, message }] })
    }
    names.add(name)
  }
}
