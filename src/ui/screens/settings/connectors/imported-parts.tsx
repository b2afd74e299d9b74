import { Search } from 'lucide-react'
import { useState } from 'react'
import type { Connector } from '../../../../domain/connector/connector.ts'
import { countOf } from '../../../parts/amount-text.ts'
import { Button } from '../../../parts/button.tsx'
import { Check } from '../../../parts/check.tsx'
import { findItems } from '../../../parts/find.ts'

/** The operations of an imported document, from which the person selects, and everything that was not taken. */
export function ImportedParts({
  connector,
  notTaken,
  chosen,
  onChange,
}: {
  connector: Connector
  notTaken: readonly { path: string; reason: string }[]
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const [typed, setTyped] = useState('')
  const all = Object.entries(connector.operations)
  const found = findItems(all, typed, ([, { label, method, path }]) => `${label} ${method} ${path}`)
  const allFound = found.every(([name]) => chosen.has(name))
  const change = (names: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen)
    for (const name of names) {
      if (isChosen) next.add(name)
      else next.delete(name)
    }
    onChange(next)
  }
  return (
    <>
      <fieldset className="flex min-h-0 min-w-0 flex-col rounded-lg border border-line">
        <legend className="sr-only">Operations</legend>
        <div className="flex items-center gap-2 border-b border-line px-3 py-1.5 text-muted">
          <Search size={14} aria-hidden="true" />
          <input
            aria-label="Search operations"
            placeholder="Search operations…"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            className="h-7 min-w-0 flex-1 bg-transparent text-sm text-text outline-none placeholder:text-muted"
          />
          <span className="text-xs whitespace-nowrap tabular-nums">
            {chosen.size} of {all.length}
          </span>
          <Button
            size="small"
            look="quiet"
            onClick={() =>
              change(
                found.map(([name]) => name),
                !allFound,
              )
            }
          >
            {allFound ? 'Select none' : 'Select all'}
          </Button>
        </div>
        <div className="max-h-64 overflow-y-auto p-1.5">
          {found.map(([name, { label, method, path }]) => (
            <Check
              key={name}
              label={label}
              note={`${method} ${path}`}
              checked={chosen.has(name)}
              onChange={(isChosen) => change([name], isChosen)}
              className="rounded-md px-2 py-1 break-all hover:bg-hover"
            />
          ))}
          {found.length === 0 && <p className="px-2 py-4 text-center text-sm text-muted">No matches.</p>}
        </div>
      </fieldset>
      {notTaken.length > 0 && (
        <details className="text-sm">
          <summary className="cursor-default font-medium">
            {countOf(notTaken.length, 'part')} of the document cannot be imported
          </summary>
          <ul className="mt-2 flex max-h-48 flex-col gap-1 overflow-y-auto text-xs">
            {notTaken.map(({ path, reason }) => (
              <li key={`${path} ${reason}`} className="break-words">
                {path !== '' && <code className="font-mono text-muted">{path}: </code>}
                {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
