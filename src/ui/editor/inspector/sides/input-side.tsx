import { ChevronRight } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { classes } from '../../../parts/class-names.ts'
import { JsonView } from '../../../parts/json-view.tsx'
import { isTrigger } from '../../document/document.ts'
import { useDraft, useEditing } from '../../editing.tsx'
import { SourcePicker } from '../../values/source-picker.tsx'
import { useRunData } from '../../values/use-run-values.ts'
import { valueGroups } from '../../values/value-groups.ts'
import { ValueTree } from '../../values/value-tree.tsx'
import { earlierBlocks } from '../suggestions.ts'
import { PassPicker } from './pass-picker.tsx'

/** The input of a block in the panel. It is unfolded when the shown pass failed. */
export function FoldedInput({ blockId }: { blockId: string }) {
  const { pass } = useRunData()
  const isFailed = pass?.status === 'error'
  // The choice belongs to one pass: a failure unfolds the input again.
  const key = pass ? `${pass.spanId} ${pass.span?.startTime ?? ''}` : ''
  return <Fold key={key} isOpenAtFirst={isFailed} blockId={blockId} />
}

function Fold({ blockId, isOpenAtFirst }: { blockId: string; isOpenAtFirst: boolean }) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  return (
    <section aria-label="Input" className="-mx-1 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-1.5">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="mr-auto flex h-6 cursor-default items-center gap-1 rounded-md px-1 text-xs font-medium hover:bg-hover"
        >
          <ChevronRight
            size={12}
            aria-hidden="true"
            className={classes('text-muted transition-transform', isOpen && 'rotate-90')}
          />
          Input
        </button>
        <PassPicker />
        <SourcePicker />
      </div>
      {isOpen && <InputBody blockId={blockId} />}
    </section>
  )
}

/** The input column of the wide inspector. */
export function InputColumn({ blockId, children }: { blockId: string; children?: ReactNode }) {
  return (
    <section aria-label="Input" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-1.5">
        <h3 className="mr-auto text-xs font-semibold">Input</h3>
        <PassPicker />
        <SourcePicker />
      </div>
      {children}
      <InputBody blockId={blockId} />
    </section>
  )
}

function InputBody({ blockId }: { blockId: string }) {
  const { pass } = useRunData()
  const isReceived = pass?.span !== undefined && pass.span.status !== 'skipped'
  return (
    <>
      {isReceived && <JsonView label="Received" value={pass.span?.input} openDepth={3} />}
      <EarlierValues blockId={blockId} />
    </>
  )
}

/** The values that the block can refer to. */
export function EarlierValues({ blockId }: { blockId: string }) {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const { values } = useRunData()
  const block = document.blocks[blockId]
  const groups = useMemo(() => {
    const earlier = earlierBlocks(document, blockId, (type) => types.get(type))
    return valueGroups(document, blockId, values, earlier)
  }, [document, blockId, types, values])
  if (!block || isTrigger(block)) return null
  return (
    <div>
      <h4 className="mb-1 text-2xs font-medium text-muted">Values from earlier blocks. Drag one into a field.</h4>
      <ValueTree groups={groups} />
    </div>
  )
}
