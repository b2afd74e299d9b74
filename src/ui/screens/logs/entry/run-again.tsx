import { RotateCcw } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button, type ButtonProps } from '../../../parts/button.tsx'
import type { LogDetail } from '../log-queries.ts'
import type { Span } from './trace.ts'

// Loaded on demand: most entries are only read.
const RunAgainDialog = lazy(async () => ({ default: (await import('./run-again-dialog.tsx')).RunAgainDialog }))

/** `iterations`: the iteration index in each container around the block, outermost first. */
export type RunFrom = { blockId: string; iterations: number[]; span: Span }

/** Offers to run an entry again: the whole workflow, or from one block on with the earlier outputs. */
export function RunAgain({
  entry,
  from,
  label,
  ...look
}: {
  entry: LogDetail
  from?: RunFrom
  label: string
} & Pick<ButtonProps, 'look' | 'size'>) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button {...look} icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <RunAgainDialog entry={entry} from={from} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
