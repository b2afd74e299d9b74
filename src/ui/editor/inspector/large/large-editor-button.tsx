import { Expand } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { IconButton } from '../../../parts/button.tsx'
import type { ParameterProps } from '../parameter-field.tsx'

const LargeEditor = lazy(async () => ({ default: (await import('./large-editor.tsx')).LargeEditor }))

/** Opens code, JSON or a long text in a large editor. Nothing for other parameters. */
export function LargeEditorButton(props: ParameterProps & { label: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const kind = kindOf(props)
  if (!kind) return null
  return (
    <>
      <IconButton
        label={`Open ${props.label} in a large editor`}
        icon={<Expand size={12} />}
        size="small"
        onClick={() => setIsOpen(true)}
      />
      {isOpen && (
        <Suspense>
          <LargeEditor
            kind={kind}
            label={props.label}
            value={props.value}
            onChange={props.onChange}
            readOnly={props.readOnly}
            onClose={() => setIsOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}

export type LargeKind = 'javascript' | 'json' | 'text'

function kindOf({ mode, name, schema, value }: ParameterProps): LargeKind | undefined {
  if (mode === 'code') return 'javascript'
  const isText = schema.type === 'string' && schema.enum === undefined
  if (isText && (/prompt$/i.test(name) || (typeof value === 'string' && value.length > longChars))) return 'text'
  return mode === 'json' ? 'json' : undefined
}

/** Texts that do not fit into the panel at a glance. */
const longChars = 200
