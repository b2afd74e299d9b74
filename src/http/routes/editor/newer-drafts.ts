import type { Clock } from '../../../domain/clock.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import { JsonText } from '../../responses/json-text.ts'
import { savedResponse } from '../../responses/workflow-response.ts'
import type { Services } from '../../services.ts'

/** A saved draft and the texts of its responses, written once for everyone with the same rights. */
export type NewerDraft = { row: WorkflowRow; text(seesSecrets: boolean): Promise<JsonText> }

/**
 * Saved drafts for the editors that follow them. Each save brings a request from every editor that has the workflow
 * open. They share one reading and one check, because the check of a large workflow takes long.
 */
export class NewerDrafts {
  readonly #services: NewerDraftsServices
  readonly #latest = new Map<string, Reading>()

  constructor(services: NewerDraftsServices) {
    this.#services = services
  }

  /**
   * A draft with a revision after `revision`, or else the draft as it was when this was called or later. Undefined when
   * there is no such workflow.
   */
  async find(workflowId: string, revision: number): Promise<NewerDraft | undefined> {
    const askedAt = this.#services.clock.monotonic()
    for (;;) {
      const reading = this.#latest.get(workflowId) ?? this.#read(workflowId)
      const draft = await reading.draft
      if (!draft || draft.row.revision > revision || reading.begunAt >= askedAt) return draft
      if (this.#latest.get(workflowId) === reading) this.#latest.delete(workflowId)
    }
  }

  #read(workflowId: string): Reading {
    const { clock, store } = this.#services
    const forget = () => {
      if (this.#latest.get(workflowId) === reading) this.#latest.delete(workflowId)
    }
    const draft = store.getWorkflow(workflowId).then((row) => row && this.#draftOf(row))
    const reading = { begunAt: clock.monotonic(), draft }
    this.#latest.set(workflowId, reading)
    draft.then(
      () => clock.setTimer(keptMs, forget),
      () => forget(),
    )
    return reading
  }

  #draftOf(row: WorkflowRow): NewerDraft {
    const texts = new Map<boolean, Promise<JsonText>>()
    const write = async (seesSecrets: boolean) =>
      new JsonText(JSON.stringify(await savedResponse(this.#services, row, { seesSecrets })))
    return {
      row,
      text(seesSecrets) {
        const text = texts.get(seesSecrets) ?? write(seesSecrets)
        texts.set(seesSecrets, text)
        return text
      },
    }
  }
}

type NewerDraftsServices = Pick<Services, 'checkWorkflow' | 'subscriptions' | 'secrets' | 'settings'> & {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  store: Pick<Services['store'], 'getWorkflow'>
}

type Reading = { begunAt: number; draft: Promise<NewerDraft | undefined> }

/** Editors are told about a save within a second. */
const keptMs = 2_000
