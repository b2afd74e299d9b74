import { RotateCcw } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import type { Parameters } from '../log-filter.ts'

// Loaded on demand.
const RerunDialog = lazy(async () => ({ default: (await import('./rerun-dialog.tsx')).RerunDialog }))

/** Offers to run all entries of the filter again. */
export function RerunButton({ parameters, count }: { parameters: Parameters; count: number }) {
  // The entries that were listed when the dialog opened: live updates do not change them.
  const [opened, setOpened] = useState<{ parameters: Parameters; count: number }>()
  return (
    <>
      <Button
        disabled={count === 0}
        icon={<RotateCcw size={14} aria-hidden="true" />}
        onClick={() => setOpened({ parameters, count })}
      >
        Run all again
      </Button>
      {opened && (
        <Suspense fallback={null}>
          <RerunDialog {...opened} onClose={() => setOpened(undefined)} />
        </Suspense>
      )}
    </>
  )
}
