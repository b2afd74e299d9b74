import { type Block, type Document, isTrigger, type Params } from '../document.ts'
import type { Started } from '../started.ts'
import { chatLine, webhookLine } from './snippets.ts'

/** How others than callers start a workflow by one of its triggers. */
export type WayIn = {
  id: string
  name: string
  type: 'webhook_trigger' | 'chat_trigger' | 'schedule' | 'manual_trigger'
  /** Its full address. */
  url?: string
  /** A line for a shell that starts it. */
  line?: string
  /** When it is due next, in ISO 8601. */
  next?: readonly string[]
  /** What is to be known before it is relied on. */
  note?: string
}

/**
 * The triggers of the draft but the API trigger. `live`: what the active version has, undefined when none is active; what it
 * has goes before what the draft will have.
 */
export function waysIn(document: Document, draft: Started, live: Started | undefined): WayIn[] {
  const triggers = Object.values(document.blocks).filter((block) => isTrigger(block) && block.enabled !== false)
  return triggers.flatMap((block): WayIn[] => {
    const { id, name, type } = block
    switch (type) {
      case 'webhook_trigger': {
        const url = live?.webhookUrl ?? draft.webhookUrl
        const note = noteOf(draft.webhookUrl, live && (live.webhookUrl ?? null)) ?? signedNote(block)
        return [{ id, name, type, ...given({ url, line: url && webhookLine(url, block.params ?? {}), note }) }]
      }
      case 'chat_trigger': {
        const url = live?.chatUrl ?? draft.chatUrl
        const note = noteOf(draft.chatUrl, live && (live.chatUrl ?? null))
        return [{ id, name, type, ...given({ url, line: url && chatLine(url, block.params ?? {}), note }) }]
      }
      case 'schedule': {
        const next = (live?.schedule ?? draft.schedule)?.next
        const has = (of: Started) => (of.schedule ? 'due' : undefined)
        return [{ id, name, type, ...given({ next, note: noteOf(has(draft), live && (has(live) ?? null)) }) }]
      }
      case 'manual_trigger':
        return [{ id, name, type, note: 'Started by hand here, with Run.' }]
    }
    return []
  })
}

/** `live`: null when the active version has none, undefined when there is no active version. */
function noteOf(draft: string | undefined, live: string | null | undefined): string | undefined {
  if (draft === undefined && !live) return 'Nothing starts it yet: see the problems of the block.'
  if (live === undefined) return 'Nothing is deployed yet: it starts no run until then.'
  if (live === null) return 'Not in the version that is live: it starts no run until the next deployment.'
  if (draft !== undefined && draft !== live) return `From the next deployment on it is ${draft}`
  return undefined
}

function signedNote({ params }: Block): string | undefined {
  const { type } = (params?.['authentication'] ?? {}) as Params
  return type === 'signature' ? 'Its sender signs each request, so one by hand is refused.' : undefined
}

/** Members that are there. */
function given<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>
  }
}
