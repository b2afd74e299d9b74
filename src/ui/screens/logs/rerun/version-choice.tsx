import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { classes } from '../../../parts/class-names.ts'

export type RanVersion = 'ran' | 'live' | 'draft'

/** Which version a repeated run uses. `ran`: what the earlier run used, in words. */
export function VersionChoice({
  value,
  onChange,
  ran,
  live,
}: {
  value: RanVersion
  onChange: (version: RanVersion) => void
  ran: string
  /** The number of the live version; null: none is live; undefined: not known. */
  live: number | null | undefined
}) {
  const options = [
    { version: 'ran', label: 'As it ran', note: ran },
    { version: 'live', label: 'Live version', note: live === null ? 'not deployed' : live && `v${live}` },
    { version: 'draft', label: 'Draft', note: 'with all saved changes' },
  ] as const
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="pb-1 text-xs font-medium">Version</legend>
      {options.map(({ version, label, note }) => {
        const isOff = version === 'live' && live === null
        return (
          <label
            key={version}
            className={classes(
              'flex items-center gap-2.5 rounded-md border px-3 py-2 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent',
              value === version ? 'border-accent bg-accent-soft' : 'border-line-strong',
              isOff && 'opacity-60',
            )}
          >
            <input
              type="radio"
              name="version"
              value={version}
              checked={value === version}
              disabled={isOff}
              onChange={() => onChange(version)}
              className="accent-accent"
            />
            <span className="font-medium">{label}</span>
            {note && <span className="min-w-0 truncate text-muted">{note}</span>}
          </label>
        )
      })}
    </fieldset>
  )
}

/** The number of a workflow's live version; null when none is live, undefined while it is not known. */
export function useLiveVersion(workflowId: string): number | null | undefined {
  const { data } = useQuery({
    queryKey: ['live-version', workflowId],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/status', { params: { id: workflowId }, signal }),
  })
  return data && (data.isDeployed ? data.version : null)
}

export function SideEffectsNote() {
  return (
    <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn-text">
      Side effects happen again: requests are sent, and messages are delivered, as in the first run.
    </p>
  )
}
