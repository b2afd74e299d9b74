import { type Block, type Document, isTrigger, type Params } from '../document/document.ts'
import { exampleRequest } from '../document/example-input.ts'
import type { TriggerDetails } from '../trigger-details.ts'
import { chatLine, webhookLine } from './snippets.ts'

/** An entry point of a workflow other than the API trigger. */
export type EntryPoint = {
  id: string
  name: string
  type:
    | ('webhook_trigger' | 'chat_trigger' | 'form_trigger' | 'schedule' | 'manual_trigger')
    | ('poll_trigger' | 'rss_trigger')
  /** The full URL. */
  url?: string
  /** A shell command that starts a run. */
  line?: string
  /** The next runs, in ISO 8601. */
  next?: readonly string[]
  /** A hint on whether and how the entry point can be used. */
  note?: string
}

/**
 * The entry points of all enabled triggers except the API trigger. `live` holds the details of the live version
 * (undefined when none is live), which take precedence over those of the draft.
 */
export function entryPoints(document: Document, draft: TriggerDetails, live: TriggerDetails | undefined): EntryPoint[] {
  const triggers = Object.values(document.blocks).filter((block) => isTrigger(block) && block.enabled !== false)
  return triggers.flatMap((block): EntryPoint[] => {
    const { id, name, type } = block
    switch (type) {
      case 'webhook_trigger': {
        const url = live?.webhookUrl ?? draft.webhookUrl
        const note = noteOf(draft.webhookUrl, live && (live.webhookUrl ?? null)) ?? signedNote(block)
        return [{ id, name, type, ...given({ url, line: url && lineFor(url, document, block), note }) }]
      }
      case 'chat_trigger': {
        const url = live?.chatUrl ?? draft.chatUrl
        const note = noteOf(draft.chatUrl, live && (live.chatUrl ?? null))
        return [{ id, name, type, ...given({ url, line: url && chatLine(url, block.params ?? {}), note }) }]
      }
      case 'form_trigger': {
        const url = live?.formUrl ?? draft.formUrl
        const note = noteOf(draft.formUrl, live && (live.formUrl ?? null))
        return [{ id, name, type, ...given({ url, note }) }]
      }
      case 'schedule': {
        const next = (live?.schedule ?? draft.schedule)?.next
        const has = (of: TriggerDetails) => (of.schedule ? 'due' : undefined)
        return [{ id, name, type, ...given({ next, note: noteOf(has(draft), live && (has(live) ?? null)) }) }]
      }
      case 'poll_trigger':
      case 'rss_trigger':
        return [
          { id, name, type, ...(live ? {} : { note: 'This trigger is inactive until the workflow is deployed.' }) },
        ]
      case 'manual_trigger':
        return [{ id, name, type, note: 'Start it with Run in the editor.' }]
    }
    return []
  })
}

function lineFor(url: string, document: Document, { params = {} }: Block): string {
  return webhookLine(exampleRequest(document, url, params), params)
}

/** `live`: null when the live version does not have this trigger, undefined when no version is live. */
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

/** Drops undefined members. */
function given<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>
  }
}
