import { BlockIcon } from '../block-look.tsx'
import { Address, DueTimes } from '../start-facts.tsx'
import { Snippet } from './snippet-box.tsx'
import type { WayIn } from './ways-in.ts'

/** One trigger: where it is reached, or when it is due. */
export function WayInView({ way: { name, type, url, line, next, note } }: { way: WayIn }) {
  return (
    <section aria-label={name} className="flex flex-col gap-2">
      <TriggerTitle type={type} name={name} />
      {note && <p className="text-xs break-words text-muted">{note}</p>}
      {url && <Address url={url} isPage={type === 'chat_trigger'} />}
      {next && <DueTimes times={next} />}
      {line && <Snippet text={line} />}
    </section>
  )
}

export function TriggerTitle({ type, name }: { type: string; name: string }) {
  return (
    <h3 className="flex items-center gap-2 text-sm font-medium">
      <BlockIcon type={type} size="small" />
      {name}
    </h3>
  )
}
