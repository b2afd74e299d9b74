import { classes } from '../../parts/class-names.ts'
import { useDraft } from '../editing.tsx'
import { nameOf, PersonMark } from './person-mark.tsx'
import type { Person } from './together.ts'
import { useTogether } from './together-context.tsx'

/** Who else has the workflow open. A click goes to the block where they are. On a narrow page only one has a mark. */
export function PeopleHere({ onGo }: { onGo: (blockId: string) => void }) {
  const people = useTogether((state) => state.people)
  const blocks = useDraft(({ document }) => document.blocks)
  if (!people || people.length === 0) return null
  const shown = people.slice(0, shownMax)
  return (
    <ul aria-label="Also here" className="flex items-center gap-1 px-1">
      {shown.map((person) => {
        const at = person.blockIds.find((id) => blocks[id])
        const text = placeOf(person, at && blocks[at]?.name)
        return (
          <li key={person.userId} className="max-md:not-first:hidden">
            <button
              type="button"
              title={text}
              className="flex cursor-default items-center rounded-full not-disabled:hover:brightness-110"
              onClick={() => at && onGo(at)}
            >
              <PersonMark person={person} />
              <span className="sr-only">{text}</span>
              {person.isMe && (
                <span aria-hidden="true" className="ml-1.5 text-2xs text-muted max-md:hidden">
                  you, in another tab
                </span>
              )}
            </button>
          </li>
        )
      })}
      {people.length > shownMax && <Others people={people.slice(shownMax)} className="max-md:hidden" />}
      {people.length > 1 && <Others people={people.slice(1)} className="md:hidden" />}
    </ul>
  )
}

function Others({ people, className }: { people: readonly Person[]; className: string }) {
  return (
    <li className={classes('text-2xs text-muted', className)} title={people.map(nameOf).join(', ')}>
      +{people.length}
    </li>
  )
}

function placeOf({ email, isMe }: Person, block: string | undefined): string {
  if (isMe) return block ? `You are at “${block}” in another tab` : 'You have this workflow open in another tab'
  return block ? `${email} is at “${block}”` : `${email} has this workflow open`
}

const shownMax = 4
