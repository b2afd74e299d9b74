import { Puzzle, Replace } from 'lucide-react'
import { useState } from 'react'
import { isRecord } from '../../domain/edits/same-value.ts'
import { Button } from '../parts/button.tsx'
import { JsonView } from '../parts/json-view.tsx'
import type { Block } from './document/document.ts'
import { startParams } from './document/new-block.ts'
import { useDraft, useEditing } from './editing.tsx'
import { QuickPalette } from './palette/quick-palette.tsx'

/** Shows the original type, the need and the content of an imported block without a counterpart, and replaces it. */
export function PlaceholderSection({ block }: { block: Block }) {
  const { draft, readOnly } = useEditing()
  const isStep = useDraft(
    ({ document }) => Boolean(block.parentId) || document.edges.some(({ target }) => target === block.id),
  )
  const [at, setAt] = useState<{ x: number; y: number }>()
  const { needs = 'a replacement', original } = block.params ?? {}
  const settings = settingsOf(original)
  return (
    <>
      <section
        aria-label="What is missing"
        className="flex flex-col items-start gap-2.5 rounded-lg border border-dashed border-warn bg-warn-soft p-3"
      >
        <p className="flex gap-2 text-sm font-medium text-warn-text">
          <Puzzle size={16} className="mt-0.5 shrink-0" aria-hidden="true" />
          <span className="min-w-0 break-words">This block needs {String(needs)}.</span>
        </p>
        <p className="text-xs">
          {block.origin && `Before the import, its type was “${block.origin.type}”. `}
          You cannot deploy the workflow until you replace or delete this block. A replacement keeps its name and
          connections.
        </p>
        {!readOnly && (
          <Button
            size="small"
            icon={<Replace size={14} aria-hidden="true" />}
            onClick={({ currentTarget }) => {
              const { left, bottom } = currentTarget.getBoundingClientRect()
              setAt({ x: left, y: bottom + 4 })
            }}
          >
            Replace with…
          </Button>
        )}
      </section>
      {settings.length > 0 && (
        <section aria-label="Original settings" className="flex flex-col gap-2">
          <h3 className="text-xs font-semibold">Original settings</h3>
          <dl className="flex flex-col gap-2">
            {settings.map(([name, text]) => (
              <div key={name}>
                <dt className="text-xs text-muted">{name}</dt>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard needs the focus */}
                <dd tabIndex={0} className="max-h-40 overflow-auto font-mono text-xs break-words whitespace-pre-wrap">
                  {text}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {original !== undefined && <JsonView label="Original" value={original} openDepth={settings.length > 0 ? 0 : 2} />}
      {at && (
        <QuickPalette
          at={at}
          steps={isStep}
          onPick={({ type, params }) => {
            draft.perform({ kind: 'convert', id: block.id, type, params: { ...startParams(type), ...params } })
            setAt(undefined)
          }}
          onClose={() => setAt(undefined)}
        />
      )}
    </>
  )
}

/** The settings of the imported block that have a value. */
function settingsOf(original: unknown): [name: string, text: string][] {
  const list = isRecord(original) && isRecord(original['subBlocks']) ? original['subBlocks'] : {}
  return Object.entries(list).flatMap(([name, setting]): [string, string][] => {
    const value = isRecord(setting) ? setting['value'] : undefined
    if (value === undefined || value === null || value === '') return []
    return [[name, typeof value === 'string' ? value : JSON.stringify(value, null, 2)]]
  })
}
