import { nameOf, PersonMark } from './person-mark.tsx'
import { usePeopleAt } from './together-context.tsx'

/** The people who have selected a block, at its upper edge. */
export function BlockVisitors({ blockId }: { blockId: string }) {
  const people = usePeopleAt(blockId)
  if (people.length === 0) return null
  const text = `Selected by ${people.map(nameOf).join(', ')}`
  return (
    <div role="img" aria-label={text} title={text} className="absolute -top-3 right-3 z-10 flex gap-1">
      {people.slice(0, 4).map((person) => (
        <PersonMark key={person.userId} person={person} />
      ))}
    </div>
  )
}
