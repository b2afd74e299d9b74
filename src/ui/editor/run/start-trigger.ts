import type { Document } from '../document/document.ts'
import { exampleInput, readsTrigger } from '../document/example-input.ts'
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

/** Whether a run that starts at the trigger needs its request or message, because blocks read it. */
export function needsInput(document: Document, { type, starts }: StartTrigger): boolean {
  if (starts === 'chat') return readsTrigger(document, type)
  if (starts !== 'webhook') return false
  const { body, headers, query } = exampleInput(document, type)
  return [body, headers, query].some((part) => typeof part === 'string' || Object.keys(part ?? {}).length > 0)
}
