import { Link } from 'wouter'
import { useEditing } from '../editing.tsx'

/** Shown instead of suggestions when no environment variable matches: links to where variables are created. */
export function NoVariable({ typed, onLeave }: { typed: string; onLeave: () => void }) {
  const { workspaceId } = useEditing()
  return (
    <div className="popup absolute inset-x-0 top-full z-30 mt-1 px-3 py-2 text-xs">
      <span className="text-muted">
        {typed === '' ? 'No environment variables yet.' : `No environment variable is named ${typed}.`}
      </span>{' '}
      <Link
        href={`/w/${workspaceId}/settings/environment`}
        className="text-accent-text underline underline-offset-2"
        // Keep the focus in the field: this link disappears when the field loses it.
        onMouseDown={(event) => event.preventDefault()}
        onBlur={onLeave}
      >
        Create variable
      </Link>
    </div>
  )
}
