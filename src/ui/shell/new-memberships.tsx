import { useState } from 'react'
import { useLocation } from 'wouter'
import { useMe } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { remember, remembered } from './browser-memory.ts'

const storageKey = 'millrace.memberships'

/**
 * Tells people about workspaces of others that they were added to, since nobody asks them before. This browser
 * remembers which ones it has shown.
 */
export function NewMemberships() {
  const { user, workspaces } = useMe()
  const [, navigate] = useLocation()
  const [seen, setSeen] = useState(readSeen)
  const added = workspaces.find(({ id, role }) => role !== 'owner' && !seen.includes(`${user.id} ${id}`))
  if (!added) return null
  const dismiss = () => {
    const all = [...seen, `${user.id} ${added.id}`].slice(-seenMax)
    setSeen(all)
    remember(storageKey, JSON.stringify(all))
  }
  return (
    <section
      aria-label="New workspace"
      className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 text-sm text-accent-text"
    >
      <p className="min-w-48 flex-1 break-words">
        “{added.name}” is shared with you: its owner added you to this workspace as{' '}
        {added.role === 'editor' ? 'an editor' : 'a viewer'}. You may leave it.
      </p>
      <div className="flex gap-1">
        <Button
          size="small"
          onClick={() => {
            dismiss()
            navigate(`/w/${added.id}/settings/workspace`)
          }}
        >
          Show members
        </Button>
        <Button size="small" look="quiet" onClick={dismiss}>
          Got it
        </Button>
      </div>
    </section>
  )
}

const seenMax = 200

function readSeen(): readonly string[] {
  try {
    const seen: unknown = JSON.parse(remembered(storageKey) ?? '[]')
    return Array.isArray(seen) ? seen.map(String) : []
  } catch {
    return []
  }
}
