import { useState } from 'react'
import { Dialog } from '../../../parts/dialog.tsx'
import { TextArea } from '../../../parts/field.tsx'
import { textOf } from '../../canvas/block-summary.ts'
import { insertInto, LastField, LastFieldContext, useLastField } from '../../values/last-field.ts'
import { PreviewLine } from '../../values/preview-line.tsx'
import { CodeField } from '../code-field.tsx'
import { EarlierValues } from '../sides/input-side.tsx'
import { useInspected } from '../sides/use-inspected.ts'
import type { LargeKind } from './large-editor-button.tsx'

/** Code or a long text, almost as large as the window, with the values of earlier blocks beside it. */
export function LargeEditor({
  kind,
  label,
  value,
  onChange,
  readOnly,
  onClose,
}: {
  kind: LargeKind
  label: string
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
  onClose: () => void
}) {
  const blockId = useInspected()
  const [lastField] = useState(() => new LastField())
  const name = `${label} in a large editor`
  return (
    <Dialog onClose={onClose} title={label} width="full">
      <LastFieldContext value={lastField}>
        <div className="grid min-h-0 flex-1 grid-cols-[1fr_320px] gap-4 px-5 pb-5 max-md:grid-cols-1 max-md:grid-rows-[2fr_1fr]">
          <div className="flex min-h-0 min-w-0 flex-col gap-2">
            {kind === 'text' ? (
              <LongText label={name} value={textOf(value)} onChange={onChange} readOnly={readOnly} />
            ) : (
              <CodeField
                language={kind}
                label={name}
                value={value}
                onChange={onChange}
                readOnly={readOnly}
                tied={{}}
                isTall
              />
            )}
          </div>
          <div className="min-h-0 overflow-y-auto">{blockId && <EarlierValues blockId={blockId} />}</div>
        </div>
      </LastFieldContext>
    </Dialog>
  )
}

function LongText({
  label,
  value,
  onChange,
  readOnly,
}: {
  label: string
  value: string
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const lastField = useLastField()
  const [owner] = useState({})
  return (
    <>
      <TextArea
        aria-label={label}
        autoFocus
        value={value}
        readOnly={readOnly}
        onFocus={({ currentTarget }) => lastField?.focused(owner, (text) => insertInto(currentTarget, text))}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-0 flex-1 resize-none! leading-6!"
      />
      <PreviewLine value={value} mode="template" />
    </>
  )
}
