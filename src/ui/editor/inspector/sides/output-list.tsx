import { Copy } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { copyText } from '../../../parts/clipboard.ts'
import { useToast } from '../../../parts/toast.tsx'
import { useDraft, useEditing } from '../../editing.tsx'
import { PinControls, PinnedOutput } from '../../pins/pin-controls.tsx'
import { BlockOutput } from '../../results/block-output.tsx'
import { iterationText, shownOutput, skippedText } from '../../run/block-run.ts'
import type { RunSpan } from '../../run/run-event.ts'
import { listenedToken } from '../../run/test-request.ts'
import { useRunData } from '../../values/use-run-values.ts'
import { outputReferences } from '../suggestions.ts'

/** The outputs of a block, with their values from the latest run. */
export function OutputList({ blockId }: { blockId: string }) {
  const { types } = useEditing()
  const { pass: shown } = useRunData()
  const toast = useToast()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const type = block && types.get(block.type)
  if (!block || !type) return null
  const copy = async (text: string) => {
    const isCopied = await copyText(text)
    toast.show(
      isCopied
        ? { text: `Copied ${text}` }
        : { text: 'The browser blocked copying. Select the text and copy it manually.', tone: 'error' },
    )
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-h-6 flex-wrap items-center gap-1.5">
        <h3 className="mr-auto text-xs font-semibold">Output</h3>
        <PinControls blockId={blockId} span={shown?.span} />
      </div>
      <PinnedOutput blockId={blockId} />
      <div className="flex flex-wrap gap-1.5">
        {outputReferences(block, type).map((reference) => (
          <button
            key={reference}
            type="button"
            title="Copy reference"
            onClick={() => void copy(reference)}
            className="group/out flex h-6 cursor-default items-center gap-1 rounded-md bg-accent-soft px-2 font-mono text-2xs text-accent-text"
          >
            {reference}
            <Copy size={11} aria-hidden="true" className="opacity-50 group-hover/out:opacity-100" />
          </button>
        ))}
      </div>
      {shown?.span && !shown.span.pinned && (
        <ExecutionOutput key={shown.spanId} span={shown.span} iterations={shown.iterations} />
      )}
    </div>
  )
}

/** The output of the latest run, and the iteration it belongs to inside a loop or parallel. */
function ExecutionOutput({ span, iterations }: { span: RunSpan; iterations: readonly number[] }) {
  const { focus } = useEditing()
  const { source } = useSyncExternalStore(focus.watch, focus.state)
  const output = shownOutput(span)
  const chosenName = listenedToken(source) === undefined ? 'the chosen run' : 'the test request'
  const runName = source === undefined ? 'the latest run' : chosenName
  if (span.status === 'skipped') {
    return (
      <section>
        <h4 className="text-2xs font-medium text-muted">In {runName}</h4>
        <p className="text-sm">{skippedText(span)}</p>
      </section>
    )
  }
  if (span.status === 'error' && output === undefined) {
    return <p className="text-sm text-muted">The block failed, so it has no output.</p>
  }
  const where = [runName, iterationText(iterations)].filter(Boolean).join(', iteration ')
  return <BlockOutput blockId={span.blockId} label={`In ${where}`} value={output} />
}
