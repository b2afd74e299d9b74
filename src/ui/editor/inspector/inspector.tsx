import { Play, StepForward } from 'lucide-react'
import { type ReactNode, type Ref, useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { DocsLink, docsOfBlock } from '../../parts/docs-link.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { ExplainButton } from '../assistant/explain-button.tsx'
import type { Actions } from '../document/actions.ts'
import { type Block, isTrigger } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { ChatSection } from '../listen/chat-section.tsx'
import { ListenSection } from '../listen/listen-section.tsx'
import { TryPollSection } from '../listen/try-poll-section.tsx'
import { PlaceholderSection } from '../placeholder-section.tsx'
import type { Runs } from '../run/use-runs.ts'
import { LastField, LastFieldContext } from '../values/last-field.ts'
import { useRanParams } from '../values/use-ran-params.ts'
import { ShownRunData, useBlockRunData } from '../values/use-run-values.ts'
import { BlockFindings, BlockForm } from './block-form.tsx'
import { InspectorHeader } from './inspector-header.tsx'
import { FoldedInput, InputColumn } from './sides/input-side.tsx'
import { OutputList } from './sides/output-list.tsx'
import { codeChanged, hasOtherCode, PlacedErrorContext, placedError, RunError } from './sides/run-error.tsx'
import { Inspected } from './sides/use-inspected.ts'
import { TriggerSection } from './trigger-section.tsx'
import { useInspectorSize } from './use-inspector-size.ts'
import { Suggestions, useBlockSuggestions } from './use-suggestions.ts'

/**
 * The inspector of the selected block: as a panel, or wide, with the input and output of the shown pass on both sides
 * of the settings.
 */
export function Inspector({
  blockId,
  actions,
  runs,
  ref,
}: {
  blockId: string
  actions: Actions
  runs: Runs
  ref: Ref<HTMLElement>
}) {
  const { types } = useEditing()
  const block = useDraft(({ document }) => document.blocks[blockId])
  const data = useBlockRunData(blockId)
  const ran = useRanParams(data.pass?.span?.error && data.executionId, blockId)
  const suggestions = useBlockSuggestions(blockId, data.values)
  const [lastField] = useState(() => new LastField())
  const { isWide, isNarrow, setWide } = useInspectorSize()
  usePanelWidth(!isWide && !isNarrow)
  if (!block) return null
  const type = types.get(block.type)
  const span = data.pass?.span
  const params = block.params ?? {}
  const placed = ran === undefined ? undefined : placedError(span, params, ran)
  const note = span && ran && hasOtherCode(span, params, ran) ? codeChanged : undefined
  const { executionId } = data
  // An error with a place is shown at that place.
  const error =
    span?.error && ran !== undefined && !placed ? (
      <RunError span={span} note={note} executionId={executionId} />
    ) : (
      placed && <ExplainButton executionId={executionId} block={block.name} />
    )
  const settings = <Settings block={block} runs={runs} />
  return (
    <aside
      ref={ref}
      aria-label={`Block ${block.name}`}
      data-inspects={blockId}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        actions.focusNode(blockId)
      }}
      className={classes(
        'flex shrink-0 flex-col border-l border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-30 max-lg:max-w-full max-lg:shadow-popup max-md:w-full',
        isWide ? 'absolute inset-y-0 right-0 z-30 w-[min(100%,1240px)] shadow-popup' : 'w-90',
      )}
    >
      <InspectorHeader
        block={block}
        label={type?.label ?? block.type}
        actions={actions}
        runs={runs}
        isWide={isWide}
        onWide={setWide}
      />
      <ShownRunData value={data}>
        <Suggestions value={suggestions}>
          <LastFieldContext value={lastField}>
            <PlacedErrorContext value={placed}>
              <Inspected value={blockId}>
                {isWide ? (
                  <WideBody
                    key={isNarrow ? 'tabs' : 'columns'}
                    isNarrow={isNarrow}
                    input={<InputColumn blockId={blockId} />}
                    settings={
                      <>
                        {error}
                        {settings}
                      </>
                    }
                    output={<OutputList blockId={blockId} />}
                  />
                ) : (
                  <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-4 pt-3 pb-10">
                    {type?.description && !span?.error && (
                      <p className="text-xs text-muted">
                        {type.description} <DocsLink to={docsOfBlock(block.type)} />
                      </p>
                    )}
                    {error}
                    {!isTrigger(block) && <FoldedInput blockId={blockId} />}
                    {settings}
                    <div className="border-t border-line pt-4">
                      <OutputList blockId={blockId} />
                    </div>
                  </div>
                )}
              </Inspected>
            </PlacedErrorContext>
          </LastFieldContext>
        </Suggestions>
      </ShownRunData>
    </aside>
  )
}

function Settings({ block, runs }: { block: Block; runs: Runs }) {
  const { readOnly } = useEditing()
  const { id } = block
  if (block.type === 'placeholder') return <PlaceholderSection block={block} />
  return (
    <>
      <BlockFindings blockId={id} />
      <TriggerSection type={block.type} />
      {!readOnly && block.type === 'webhook_trigger' && <ListenSection blockId={id} trigger="webhook" runs={runs} />}
      {!readOnly && block.type === 'poll_trigger' && <TryPollSection blockId={id} trigger="poll" runs={runs} />}
      {!readOnly && block.type === 'rss_trigger' && <TryPollSection blockId={id} trigger="rss" runs={runs} />}
      {!readOnly && block.type === 'chat_trigger' && <ChatSection blockId={id} runs={runs} />}
      <div data-first className="contents">
        <BlockForm blockId={id} />
      </div>
      {!readOnly && !isTrigger(block) && (
        <div className="flex gap-2 border-t border-line pt-4">
          <Button size="small" icon={<Play size={13} />} onClick={() => void runs.runOnly(id)}>
            Run this block
          </Button>
          <Button size="small" icon={<StepForward size={13} />} onClick={() => void runs.runFrom(id)}>
            Run from here
          </Button>
        </div>
      )}
    </>
  )
}

/** Three columns, or tabs where they do not fit. */
function WideBody({
  isNarrow,
  input,
  settings,
  output,
}: {
  isNarrow: boolean
  input: ReactNode
  settings: ReactNode
  output: ReactNode
}) {
  const [tab, setTab] = useState('settings')
  if (isNarrow) {
    const tabs = [
      { value: 'input', label: 'Input', content: <Column>{input}</Column> },
      { value: 'settings', label: 'Settings', content: <Column>{settings}</Column> },
      { value: 'output', label: 'Output', content: <Column>{output}</Column> },
    ]
    return <Tabs label="Sides of the block" tabs={tabs} value={tab} onChange={setTab} />
  }
  return (
    <div className="grid min-h-0 flex-1 grid-cols-[1fr_1.2fr_1fr] divide-x divide-line">
      <Column>{input}</Column>
      <Column label="Settings">{settings}</Column>
      <Column>{output}</Column>
    </div>
  )
}

function Column({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <div className="flex min-h-0 min-w-0 flex-col gap-4 overflow-y-auto px-4 pt-3 pb-10">
      {label && <h3 className="text-xs font-semibold">{label}</h3>}
      {children}
    </div>
  )
}

/** Keeps notifications beside the panel, not over it. */
function usePanelWidth(isPanel: boolean): void {
  useEffect(() => {
    if (!isPanel) return
    const { style } = document.documentElement
    style.setProperty('--panel-width', '360px')
    return () => void style.removeProperty('--panel-width')
  }, [isPanel])
}
