import { Button } from '../../parts/button.tsx'
import { useCreateVariable } from '../variable-creator.tsx'

/** Shown instead of suggestions when no environment variable matches: creates one in place. */
export function NoVariable({
  typed,
  onCreated,
  onLeave,
}: {
  typed: string
  onCreated: (name: string) => void
  onLeave: () => void
}) {
  const createVariable = useCreateVariable()
  return (
    <div className="popup absolute inset-x-0 top-full z-30 mt-1 flex flex-wrap items-center justify-between gap-2 px-3 py-2 text-xs">
      <span className="text-muted">
        {typed === '' ? 'No environment variables yet.' : `No environment variable is named ${typed}.`}
      </span>
      <Button
        size="small"
        // Keep the focus in the field: this button disappears when the field loses it.
        onMouseDown={(event) => event.preventDefault()}
        onBlur={onLeave}
        onClick={() => createVariable({ name: typed, onCreated })}
      >
        Create variable
      </Button>
    </div>
  )
}
