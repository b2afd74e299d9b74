import { type Block, type Document, isTrigger, type Params } from '../document.ts'
import type { TriggerDetails } from '../trigger-details.ts'
import { chatLine, webhookLine } from './snippets.ts'

/** How others than callers start a workflow by one of its triggers. */
export type EntryPoint = {
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
export function entryPoints(document: Document, draft: TriggerDetails, live: TriggerDetails | undefined): EntryPoint[] {
  const triggers = Object.values(document.blocks).filter((block) => isTrigger(block) && block.enabled !== false)
  return triggers.flatMap((block): EntryPoint[] => {
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
        const has = (of: TriggerDetails) => (of.schedule ? 'due' : undefined)
        return [{ id, name, type, ...given({ next, note: noteOf(has(draft), live && (has(live) ?? null)) }) }]
      }
      case 'manual_trigger':
        return [{ id, name, type, note: 'Start it with Run in the editor.' }]
    }
    return []
  })
}

/** `live`: null when the active version has none, undefined when there is no active version. */
function noteOf(draft: string | undefined, live: string | null | undefined): string | undefined {
  if (draft === undefined && !live) return 'This trigger is not ready yet. Fix the problems shown on its block.'
  if (live === undefined) return 'This trigger is inactive until the workflow is deployed.'
  if (live === null) return 'The live version does not have this trigger. Deploy to activate it.'
  if (draft !== undefined && draft !== live) return `After the next deployment, the URL is ${draft}`
  return undefined
}

function signedNote({ params }: Block): string | undefined {
  const { type } = (params?.['authentication'] ?? {}) as Params
  return type === 'signature'
    ? 'Requests must be signed by the sender. An unsigned request like this one is rejected.'
    : undefined
}

/** Members that are there. */
function given<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>
  }
}
