import { type Document, formatOf } from '../document/document.ts'
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

/**
 * Whether a run that starts at the trigger needs an input: a request or message that blocks read, members of an input
 * without declared fields, or required fields without a sample value.
 */
export function needsInput(document: Document, { id, type, starts }: StartTrigger): boolean {
  if (starts === 'schedule') return false
  if (starts === 'webhook') {
    const { body, headers, query } = exampleInput(document, type)
    return [body, headers, query].some((part) => typeof part === 'string' || Object.keys(part ?? {}).length > 0)
  }
  // Without an item, the blocks behind it have nothing to work with.
  if (starts === 'poll' || starts === 'rss') return readsTrigger(document, type)
  const block = document.blocks[id]
  const format = block && formatOf(block)
  if (starts === 'chat' || !Array.isArray(format) || format.length === 0) return readsTrigger(document, type)
  return (format as Field[]).some(({ required, type: kind, value = null }) => {
    return required === true && (value === null || (value === '' && kind !== 'string'))
  })
}

type Field = { type?: unknown; required?: unknown; value?: unknown }
