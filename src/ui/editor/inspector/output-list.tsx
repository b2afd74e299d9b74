import { Copy } from 'lucide-react'
import { useMemo, useSyncExternalStore } from 'react'
import { copyText } from '../../parts/clipboard.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import { iterationText, skippedText } from '../run/block-run.ts'
import type { RunSpan } from '../run/run-event.ts'
import { shownEntry } from '../run/run-state.ts'
import { outputReferences } from './suggestions.ts'

/** The outputs of a block, with their values from the latest run. */
export function OutputList({ blockId }: { blockId: string }) {
  const { types, run, draft } = useEditing()
  const toast = useToast()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const entries = useSyncExternalStore(run.watch, () => run.state().entries)
  const shown = useMemo(() => shownEntry(entries, blockId), [entries, blockId])
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
    <section className="flex flex-col gap-2 border-t border-line pt-4">
      <h3 className="text-xs font-medium">Outputs</h3>
      <div className="flex flex-wrap gap-1.5">
        {outputReferences(block, draft.state().document, type).map((reference) => (
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
      {shown?.span && <ExecutionOutput key={shown.spanId} span={shown.span} iterations={shown.iterations} />}
    </section>
  )
}

/** The output of the latest run, and the iteration it belongs to inside a loop or parallel. */
function ExecutionOutput({ span, iterations }: { span: RunSpan; iterations: readonly number[] }) {
  const { status, error, output } = span
  if (status === 'skipped') {
    return (
      <section>
        <h3 className="text-2xs font-medium text-muted">In the latest run</h3>
        <p className="text-sm">{skippedText(span)}</p>
      </section>
    )
  }
  const where = ['the latest run', iterationText(iterations)].filter(Boolean).join(', iteration ')
  return <JsonView label={error ? `Error in ${where}` : `In ${where}`} value={error ?? output} openDepth={1} />
}
