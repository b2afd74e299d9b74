import { classes } from './class-names.ts'

/** A list of problems. Those with `go` are links. `more`: the number of problems not listed. */
export function ProblemList({
  problems,
  more,
  className,
}: {
  problems: readonly { text: string; go: (() => void) | undefined }[]
  more: number
  className?: string
}) {
  return (
    <ul className={classes('flex flex-col gap-0.5 text-xs', className)}>
      {problems.map(({ text, go }) => (
        <li key={text} className="break-words">
          {go ? (
            <button type="button" onClick={go} className="cursor-default rounded-sm text-left underline">
              {text}
            </button>
          ) : (
            text
          )}
        </li>
      ))}
      {more > 0 && <li className="text-muted">and {more} more</li>}
    </ul>
  )
}
