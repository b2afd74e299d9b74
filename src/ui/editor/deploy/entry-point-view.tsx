import { BlockIcon } from '../canvas/block-icon.tsx'
import { TriggerAddress, UpcomingRuns } from '../canvas/trigger-address.tsx'
import type { EntryPoint } from './entry-points.ts'
import { PollStatus } from './poll-status.tsx'
import { Snippet } from './snippet-box.tsx'

/** One trigger: its URL, its next runs or its polls. */
export function EntryPointView({ entryPoint: { id, name, type, url, line, next, note } }: { entryPoint: EntryPoint }) {
  return (
    <section aria-label={name} className="flex flex-col gap-2">
      <TriggerTitle type={type} name={name} />
      {note && <p className="text-xs break-words text-muted">{note}</p>}
      {url && <TriggerAddress url={url} open={pages[type]} />}
      {next && <UpcomingRuns times={next} />}
      {(type === 'poll_trigger' || type === 'rss_trigger') && <PollStatus blockId={id} />}
      {line && <Snippet text={line} />}
    </section>
  )
}

/** The texts of the links to the pages of triggers. */
const pages: Partial<Record<EntryPoint['type'], string>> = { chat_trigger: 'Open chat', form_trigger: 'Open form' }

export function TriggerTitle({ type, name }: { type: string; name: string }) {
  return (
    <h3 className="flex items-center gap-2 text-sm font-medium">
      <BlockIcon type={type} size="small" />
      {name}
    </h3>
  )
}
