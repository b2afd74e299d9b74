import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { focusLastRow } from './focus-last.ts'

/** Changed members; undefined removes one. */
export type Change<Item> = { [Name in keyof Item]?: Item[Name] | undefined }

/** A list edited row by row: rows can be added at the end, changed, moved and removed. */
export function Rows<Item extends object>({
  label,
  items,
  onChange,
  readOnly,
  fresh,
  add = 'Add',
  remove = 'Remove',
  boxed = true,
  ordered = false,
  least = 0,
  aside,
  children,
}: {
  label: string
  items: readonly Item[]
  onChange: (items: Item[]) => void
  readOnly: boolean
  /** Creates the value of a new row. */
  fresh: () => Item
  /** The labels of the buttons. */
  add?: string
  remove?: string
  /** Draws a frame around each row, for rows of several lines. */
  boxed?: boolean
  /** Whether the order matters. If so, rows can be moved. */
  ordered?: boolean
  /** The minimum number of rows. */
  least?: number
  /** Shown next to the add button. */
  aside?: ReactNode
  children: (item: Item, at: number, change: (part: Change<Item>) => void) => ReactNode
}) {
  const change = (at: number, part: Change<Item>) =>
    onChange(
      items.map((item, index) => {
        if (index !== at) return item
        return Object.fromEntries(Object.entries({ ...item, ...part }).filter(([, each]) => each !== undefined)) as Item
      }),
    )
  const swap = (at: number, by: number) => {
    const next = [...items]
    next.splice(at + by, 0, ...next.splice(at, 1))
    onChange(next)
  }
  return (
    <fieldset aria-label={label} className={classes('flex flex-col', boxed ? 'gap-2' : 'gap-1.5')}>
      {items.map((item, at) => (
        <div
          data-row
          // biome-ignore lint/suspicious/noArrayIndexKey: items are identified by position
          key={at}
          className={classes('flex items-start gap-1.5', boxed && 'rounded-lg border border-line p-2')}
        >
          <div className={classes('min-w-0 flex-1', boxed && 'flex flex-col gap-1.5')}>
            {children(item, at, (part) => change(at, part))}
          </div>
          {!readOnly && (
            <div className={classes('flex flex-col', !boxed && 'mt-1')}>
              {ordered && items.length > 1 && (
                <>
                  <IconButton
                    label="Move up"
                    icon={<ArrowUp size={13} />}
                    size="small"
                    disabled={at === 0}
                    onClick={() => swap(at, -1)}
                  />
                  <IconButton
                    label="Move down"
                    icon={<ArrowDown size={13} />}
                    size="small"
                    disabled={at === items.length - 1}
                    onClick={() => swap(at, 1)}
                  />
                </>
              )}
              <IconButton
                label={remove}
                icon={<Trash2 size={13} />}
                size="small"
                disabled={items.length <= least}
                onClick={() => onChange(items.filter((_, index) => index !== at))}
              />
            </div>
          )}
        </div>
      ))}
      {(!readOnly || aside) && (
        <div className="flex items-center justify-between gap-2">
          {!readOnly && (
            <Button
              size="small"
              look="quiet"
              icon={<Plus size={14} />}
              onClick={(event) => {
                onChange([...items, fresh()])
                focusLastRow(event.currentTarget)
              }}
            >
              {add}
            </Button>
          )}
          {aside}
        </div>
      )}
    </fieldset>
  )
}

/** A name that no item uses yet: `field3`. */
export function freeName<Item>(stem: string, items: readonly Item[], nameOf: (item: Item) => unknown): string {
  const taken = new Set(items.map(nameOf))
  let number = items.length + 1
  while (taken.has(`${stem}${number}`)) number += 1
  return `${stem}${number}`
}
