import { type Change, changesBetween } from '../../../domain/edits/change.ts'
import { problemsError } from '../../../domain/errors.ts'
import { assertDocumentSize } from '../../../domain/workflow/document-size.ts'
import type { Finding, WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import { boundedFindings } from '../../responses/findings.ts'
import type { Services } from '../../services.ts'
import { applyEdits, type Edit } from '../mcp/tools/document-edits.ts'

/** The changes that the assistant proposes, and the findings about the changed draft. */
export type Proposal = { changes: Change[]; findings: Finding[] }

type CopyServices = Pick<Services, 'secrets' | 'readDocument' | 'checkWorkflow' | 'settings' | 'inSlices'>

/**
 * The draft that the assistant edits: a copy of the one on the canvas. The assistant sees it without secrets, as a
 * viewer does. Nothing is stored: the difference to the draft is what the assistant proposes.
 */
export class DraftCopy {
  readonly #services: CopyServices
  readonly #workspaceId: string
  /** With its secrets, as the editor has it. */
  readonly #before: WorkflowDocument
  /** Without secrets. */
  #now: WorkflowDocument
  #isEdited = false

  private constructor(services: CopyServices, workspaceId: string, before: WorkflowDocument, shown: WorkflowDocument) {
    this.#services = services
    this.#workspaceId = workspaceId
    this.#before = before
    this.#now = shown
  }

  /** `sent`: the draft of the editor; the saved one when absent. Throws INVALID_INPUT when it cannot be read. */
  static async open(services: CopyServices, row: WorkflowRow, sent: unknown): Promise<DraftCopy> {
    const { workspaceId, document: stored } = row
    const { secrets } = services
    const read = sent === undefined ? stored : await readDraft(services, sent, workspaceId)
    const { document } = await secrets.restored(read, stored, workspaceId)
    const before = await secrets.shown(document, workspaceId, true)
    return new DraftCopy(services, workspaceId, before, await secrets.shown(before, workspaceId, false))
  }

  get document(): WorkflowDocument {
    return this.#now
  }

  /** Applies edits, all or none. Throws INVALID_INPUT with what is wrong with them. */
  async edit(edits: readonly Edit[]): Promise<void> {
    const edited = await this.#services.inSlices(applyEdits(this.#now, edits))
    this.#now = await readDraft(this.#services, edited, this.#workspaceId)
    this.#isEdited = true
  }

  async check(): Promise<Finding[]> {
    const { findings } = await this.#services.checkWorkflow(await this.#whole(), this.#workspaceId)
    return boundedFindings(findings)
  }

  /** The differences to the draft; undefined when there are none. */
  async proposal(): Promise<Proposal | undefined> {
    if (!this.#isEdited) return undefined
    const changes = changesBetween(this.#before, await this.#whole())
    return changes.length === 0 ? undefined : { changes, findings: await this.check() }
  }

  /** The copy with the secrets that the editor has, where the assistant did not change them. */
  async #whole(): Promise<WorkflowDocument> {
    return (await this.#services.secrets.restored(this.#now, this.#before, this.#workspaceId)).document
  }
}

async function readDraft(
  { readDocument, settings }: Pick<CopyServices, 'readDocument' | 'settings'>,
  sent: unknown,
  workspaceId: string,
): Promise<WorkflowDocument> {
  assertDocumentSize(sent, settings.document)
  const reading = await readDocument(sent, workspaceId)
  if ('details' in reading) throw problemsError('INVALID_INPUT', reading.details)
  const { webhooks: _, ...document } = reading.document
  return document
}
