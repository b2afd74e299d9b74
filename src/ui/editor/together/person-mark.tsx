import { classes } from '../../parts/class-names.ts'
import type { Person } from './together.ts'

/** A person as a small disc: initials on a colour of their own. */
export function PersonMark({ person, className }: { person: Person; className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classes(
        'flex h-5.5 min-w-5.5 items-center justify-center rounded-full px-1 text-2xs font-semibold text-on-accent ring-2 ring-bg',
        colours[hashOf(person.userId) % colours.length],
        className,
      )}
    >
      {initialsOf(person.email)}
    </span>
  )
}

export function nameOf({ email, isMe }: Pick<Person, 'email' | 'isMe'>): string {
  return isMe ? 'you, in another tab' : email
}

/** `ada.lovelace@…` → `AL`, `ada@…` → `AD`. */
export function initialsOf(email: string): string {
  const words = (email.split('@')[0] ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '?', second] = words
  return (second ? [...first].slice(0, 1).concat([...second].slice(0, 1)) : [...first].slice(0, 2))
    .join('')
    .toUpperCase()
}

/** The same account has the same colour everywhere. */
const colours = ['bg-call', 'bg-model', 'bg-trigger', 'bg-code', 'bg-logic', 'bg-response']

function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003
  return hash
}
