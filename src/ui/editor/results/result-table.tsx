import { type ReactNode, useState } from 'react'
import { countOf, countText } from '../../parts/amount-text.ts'
import { cellText, type ResultColumn, type ResultRows } from './result-rows.ts'

/** The result of an operation as a table: a list by columns, an object by rows. */
export function ResultTable({ label, result, aside }: { label: string; result: ResultRows; aside: ReactNode }) {
  const [shown, setShown] = useState(partSize)
  const { isList, columns, rows } = result
  return (
    <section aria-label={label} className="min-w-0 shrink-0 overflow-hidden rounded-lg border border-line bg-surface">
      <header className="flex h-8 items-center gap-1 border-b border-line pr-1 pl-3">
        <h3 className="min-w-0 flex-1 truncate text-xs font-medium text-muted">
          {isList ? `${label}: ${countOf(rows.length, 'item')}` : label}
        </h3>
        {aside}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div tabIndex={0} className="max-h-120 overflow-auto outline-offset-[-2px]">
        {isList ? (
          <ListTable columns={columns} rows={rows.slice(0, shown)} />
        ) : (
          <ObjectTable columns={columns} row={rows[0] ?? {}} />
        )}
      </div>
      {rows.length > shown && (
        <button
          type="button"
          className="m-2 rounded-sm text-xs text-accent-text hover:underline"
          onClick={() => setShown(shown + partSize)}
        >
          Show {countText(Math.min(partSize, rows.length - shown))} of {countText(rows.length - shown)} more
        </button>
      )}
    </section>
  )
}

type Rows = { columns: readonly ResultColumn[]; rows: ResultRows['rows'] }

function ListTable({ columns, rows }: Rows) {
  if (rows.length === 0) return <p className="px-3 py-2 text-sm text-muted">The list is empty.</p>
  return (
    <table className="w-full border-collapse text-left text-xs">
      <thead>
        <tr className="border-b border-line">
          {columns.map(({ name, schema }) => (
            <th key={name} scope="col" className="h-7 px-3 font-medium whitespace-nowrap text-muted">
              {schema.title ?? name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows do not move
          <tr key={index}>
            {columns.map((column) => (
              <td key={column.name} className="h-7 max-w-80 truncate px-3">
                <CellValue column={column} value={row[column.name]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function ObjectTable({ columns, row }: { columns: readonly ResultColumn[]; row: Readonly<Record<string, unknown>> }) {
  return (
    <table className="w-full border-collapse text-left text-xs">
      <tbody className="divide-y divide-line">
        {columns.map((column) => (
          <tr key={column.name}>
            <th scope="row" className="w-px px-3 py-1.5 align-top font-medium whitespace-nowrap text-muted">
              {column.schema.title ?? column.name}
            </th>
            <td className="px-3 py-1.5 break-words whitespace-pre-wrap">
              <CellValue column={column} value={row[column.name]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function CellValue({ column: { schema }, value }: { column: ResultColumn; value: unknown }) {
  const text = cellText(value, schema)
  if (schema.format !== 'uri' || typeof value !== 'string' || !/^https?:\/\//.test(value)) return text
  return (
    <a href={value} target="_blank" rel="noreferrer" className="text-accent-text hover:underline">
      {text}
    </a>
  )
}

const partSize = 100
