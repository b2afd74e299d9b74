import type { Document } from '../document/document.ts'
import { exampleInput } from '../document/example-input.ts'
import type { BlockType } from '../editing.tsx'

/** A trigger that can start a manual run. */
export type StartTrigger = { id: string; type: string; starts: string; name: string }

/** The enabled triggers of a document. */
export function startTriggers({ blocks }: Document, types: ReadonlyMap<string, BlockType>): StartTrigger[] {
  return Object.values(blocks).flatMap(({ id, type, name, enabled }) => {
    const starts = types.get(type)?.starts
    return starts && enabled !== false ? [{ id, type, starts, name }] : []
  })
}

/** The trigger of a run for which none was chosen: the same one as the service's. */
export function usualTrigger(triggers: readonly StartTrigger[]): StartTrigger | undefined {
  const preferred = ['manual', 'api'].map((kind) => triggers.find(({ starts }) => starts === kind))
  return preferred.find(Boolean) ?? triggers[0]
}

/** Whether blocks read the body, the headers or the query of the requests to the webhook trigger. */
export function readsRequest(document: Document): boolean {
  const { body, headers, query } = exampleInput(document, 'webhook_trigger')
  return [body, headers, query].some((part) => typeof part === 'string' || Object.keys(part ?? {}).length > 0)
}
