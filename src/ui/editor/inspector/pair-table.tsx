import { Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Input } from '../../parts/field.tsx'
import { textOf } from '../block-summary.ts'
import { focusLastRow } from './focus-last.ts'
import { TemplateField } from './template-field.tsx'

type Pair = { key: string; value: unknown }

/** Headers, query parameters: names with values. */
export function PairTable({
  label,
  value,
  onChange,
  readOnly,
}: {
  label: string
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}) {
  const pairs = pairsOf(value)
  const change = (at: number, pair: Partial<Pair>) =>
    onChange(pairs.map((one, index) => (index === at ? { ...one, ...pair } : one)))
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1.5">
      {pairs.map((pair, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pair is its place in the list
        <div data-row key={at} className="flex items-start gap-1.5">
          <div className="w-2/5 shrink-0">
            <Input
              aria-label={`Name ${at + 1}`}
              placeholder="Name"
              value={pair.key}
              readOnly={readOnly}
              onChange={(event) => change(at, { key: event.target.value })}
            />
          </div>
          <div className="min-w-0 flex-1">
            <TemplateField
              value={textOf(pair.value)}
              placeholder="Value"
              readOnly={readOnly}
              onChange={(text) => change(at, { value: text })}
              tied={{ 'aria-label': `Value ${at + 1}` }}
            />
          </div>
          {!readOnly && (
            <IconButton
              label="Remove"
              icon={<Trash2 size={14} />}
              size="small"
              className="mt-1"
              onClick={() => onChange(pairs.filter((_, index) => index !== at))}
            />
          )}
        </div>
      ))}
      {!readOnly && (
        <Button
          size="small"
          look="quiet"
          icon={<Plus size={14} />}
          className="self-start"
          onClick={(event) => {
            onChange([...pairs, { key: '', value: '' }])
            focusLastRow(event.currentTarget)
          }}
        >
          Add
        </Button>
      )}
    </fieldset>
  )
}

/** An object does where a list is meant. */
function pairsOf(value: unknown): Pair[] {
  if (Array.isArray(value))
    return value.map((one: Partial<Pair> | null) => ({ ...one, key: textOf(one?.key), value: one?.value ?? '' }))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, each]) => ({ key, value: each }))
  return []
}
