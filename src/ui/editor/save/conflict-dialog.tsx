import { useState } from 'react'
import type { Conflict } from '../../../domain/edits/merge.ts'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { Dialog, DialogBody } from '../../parts/dialog.tsx'

/** Both values of each conflict, side by side. */
export function ConflictDialog({
  conflicts,
  labels,
  textOf,
  who,
  onChoose,
  onClose,
}: {
  conflicts: readonly Conflict[]
  labels: readonly string[]
  textOf: (value: unknown, conflict: Conflict) => string
  /** Who made the other changes. */
  who: string
  /** Receives the conflicts where the other value is taken. */
  onChoose: (taken: Conflict[]) => void
  onClose: () => void
}) {
  const [taken, setTaken] = useState<ReadonlySet<Conflict>>(new Set())
  const choose = (conflict: Conflict, isTaken: boolean) => {
    const next = new Set(taken)
    if (isTaken) next.add(conflict)
    else next.delete(conflict)
    setTaken(next)
  }
  return (
    <Dialog
      width="wide"
      title="Choose between two changes"
      description={`You and ${who} changed the same values. You can undo the choice.`}
      onClose={onClose}
    >
      <DialogBody>
        {conflicts.slice(0, shownMax).map((conflict, at) => (
          <fieldset key={conflict.path.join('\n')} className="min-w-0">
            <legend className="pb-1 text-sm font-medium break-words">{labels[at]}</legend>
            <div className="grid gap-2 md:grid-cols-2">
              {(['mine', 'theirs'] as const).map((side) => (
                <Choice
                  key={side}
                  name={conflict.path.join('\n')}
                  label={side === 'mine' ? 'Mine' : 'Theirs'}
                  text={textOf(conflict[side], conflict)}
                  checked={taken.has(conflict) === (side === 'theirs')}
                  onCheck={() => choose(conflict, side === 'theirs')}
                />
              ))}
            </div>
          </fieldset>
        ))}
        {conflicts.length > shownMax && (
          <p className="text-sm text-muted">{conflicts.length - shownMax} more values stay as you wrote them.</p>
        )}
      </DialogBody>
      <footer className="flex justify-end gap-2 border-t border-line px-5 py-3">
        <Button onClick={onClose}>Decide later</Button>
        <Button look="primary" onClick={() => onChoose([...taken])}>
          Save this choice
        </Button>
      </footer>
    </Dialog>
  )
}

const shownMax = 100

function Choice({
  name,
  label,
  text,
  checked,
  onCheck,
}: {
  name: string
  label: string
  text: string
  checked: boolean
  onCheck: () => void
}) {
  return (
    <label
      className={classes(
        'flex min-w-0 cursor-default flex-col gap-1 rounded-lg border p-2 has-focus-visible:outline-2 has-focus-visible:outline-accent',
        checked ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <span className="flex items-center gap-2 text-xs font-medium">
        <input type="radio" name={name} checked={checked} onChange={onCheck} className="accent-(--accent)" />
        {label}
      </span>
      <span className="max-h-48 overflow-auto font-mono text-xs break-words whitespace-pre-wrap">
        {text.length > charsMax ? `${text.slice(0, charsMax)}…` : text}
      </span>
    </label>
  )
}

const charsMax = 20_000
