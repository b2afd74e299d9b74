import { CircleAlert } from 'lucide-react'
import { useState } from 'react'
import { classes } from '../parts/class-names.ts'
import { Popover } from '../parts/popover.tsx'
import type { Actions } from './document/actions.ts'
import { FindingFix } from './finding-fix.tsx'
import type { Finding } from './findings.tsx'

/** A button with the number of problems. It opens their list. */
export function FindingsButton({ findings, actions }: { findings: readonly Finding[]; actions: Actions }) {
  const [isOpen, setIsOpen] = useState(false)
  if (findings.length === 0) return null
  const errors = findings.filter(({ level }) => level === 'error').length
  return (
    <Popover
      align="end"
      className="w-96 p-1"
      open={isOpen}
      onOpenChange={setIsOpen}
      trigger={
        <button
          type="button"
          className={classes(
            'flex h-7 shrink-0 cursor-default items-center gap-1 rounded-md px-2 text-xs font-medium hover:bg-hover',
            errors > 0 ? 'text-error-text' : 'text-warn-text',
          )}
        >
          <CircleAlert size={14} aria-hidden="true" />
          {findings.length} <span className="max-md:sr-only">{findings.length === 1 ? 'problem' : 'problems'}</span>
        </button>
      }
    >
      <FindingList findings={findings} actions={actions} onGo={() => setIsOpen(false)} />
    </Popover>
  )
}

/** The problems found by the check. A click goes to the block. */
export function FindingList({
  findings,
  actions,
  onGo,
}: {
  findings: readonly Finding[]
  actions: Actions
  onGo?: () => void
}) {
  return (
    <ul className="flex flex-col">
      {findings.map((finding) => (
        <li
          key={`${finding.path} ${finding.code} ${finding.message}`}
          className="flex flex-wrap items-center justify-end gap-x-2 rounded-md pr-1 has-[button:not(:disabled)]:hover:bg-hover"
        >
          <button
            type="button"
            disabled={finding.blockId === null}
            onClick={() => {
              if (finding.blockId !== null) actions.goTo(finding.blockId)
              onGo?.()
            }}
            className="flex min-w-60 flex-1 cursor-default items-start gap-2 rounded-md px-2 py-1.5 text-left text-sm"
          >
            <CircleAlert
              size={14}
              aria-label={finding.level === 'error' ? 'Error' : 'Warning'}
              className={classes('mt-0.5 shrink-0', finding.level === 'error' ? 'text-error' : 'text-warn')}
            />
            <span className="min-w-0 break-words">
              {finding.blockName && <span className="font-medium">{finding.blockName}: </span>}
              {finding.message}
            </span>
          </button>
          <FindingFix finding={finding} />
        </li>
      ))}
    </ul>
  )
}
