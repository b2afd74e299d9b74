import { CopyButton } from '../../parts/copy-button.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { momentText } from '../../parts/time-text.ts'

/** The URL of a trigger. `open`: the text of the link to its page. */
export function TriggerAddress({ url, open }: { url: string; open?: string | undefined }) {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-1 pl-2.5">
        <code className="min-w-0 flex-1 font-mono text-xs break-all" data-testid="address">
          {url}
        </code>
        <CopyButton text={url} label="Copy URL" />
      </div>
      {open && (
        <a
          className="self-start text-xs text-accent-text underline underline-offset-2"
          href={url}
          target="_blank"
          rel="noreferrer"
        >
          {open}
        </a>
      )}
    </div>
  )
}

/** The next runs of a schedule. */
export function UpcomingRuns({ times }: { times: readonly string[] }) {
  if (times.length === 0) return <p className="text-sm text-muted">No more runs are scheduled.</p>
  return (
    <ul aria-label="Next runs" className="flex flex-col gap-0.5 text-sm">
      {times.map((at) => (
        <li key={at} className="flex gap-2 tabular-nums">
          {momentText(Date.parse(at))}
          <TimeAgo at={at} className="text-muted" />
        </li>
      ))}
    </ul>
  )
}
