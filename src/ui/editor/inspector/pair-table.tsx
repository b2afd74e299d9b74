import { Input } from '../../parts/field.tsx'
import { textOf } from '../canvas/block-summary.ts'
import { Rows } from './rows.tsx'
import { TemplateField } from './template-field.tsx'

type Pair = { key: string; value: unknown }

/** A list of name and value pairs: headers, query parameters. */
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
  return (
    <Rows
      label={label}
      items={pairsOf(value)}
      onChange={onChange}
      readOnly={readOnly}
      fresh={() => ({ key: '', value: '' })}
      boxed={false}
    >
      {(pair, at, change) => (
        <div className="flex items-start gap-1.5">
          <div className="w-2/5 shrink-0">
            <Input
              aria-label={`Name ${at + 1}`}
              placeholder="Name"
              value={pair.key}
              readOnly={readOnly}
              onChange={(event) => change({ key: event.target.value })}
            />
          </div>
          <div className="min-w-0 flex-1">
            <TemplateField
              value={textOf(pair.value)}
              placeholder="Value"
              readOnly={readOnly}
              onChange={(text) => change({ value: text })}
              tied={{ 'aria-label': `Value ${at + 1}` }}
            />
          </div>
        </div>
      )}
    </Rows>
  )
}

/** Accepts an object in place of a list of pairs. */
function pairsOf(value: unknown): Pair[] {
  if (Array.isArray(value))
    return value.map((one: Partial<Pair> | null) => ({ ...one, key: textOf(one?.key), value: one?.value ?? '' }))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, each]) => ({ key, value: each }))
  return []
}
