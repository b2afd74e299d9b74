import { useQuery } from '@tanstack/react-query'
import { executionQuery } from '../../../editor/editor-queries.ts'
import { classes } from '../../../parts/class-names.ts'

/** The code around the line that an error names, as it ran, with that line marked. Nothing for other errors. */
export function FailedLine({
  executionId,
  blockId,
  message,
}: {
  executionId: string
  blockId: string
  message: string
}) {
  const line = lineOf(message)
  const { data } = useQuery({ ...executionQuery(executionId), enabled: line !== undefined })
  const block = data?.workflowState.blocks[blockId] as { params?: { code?: unknown } } | undefined
  const code = block?.params?.code
  if (line === undefined || typeof code !== 'string') return null
  const lines = code.split('\n')
  if (line > lines.length) return null
  const first = Math.max(1, line - around)
  const shown = lines.slice(first - 1, line + around)
  return (
    <section
      aria-label="Code"
      className="overflow-x-auto rounded-lg border border-line bg-surface py-1.5 font-mono text-xs leading-5"
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <ol tabIndex={0} className="min-w-max outline-offset-[-2px]">
        {shown.map((text, index) => {
          const number = first + index
          const isFailed = number === line
          return (
            <li
              key={number}
              aria-current={isFailed ? 'location' : undefined}
              className={classes('flex pr-3', isFailed && 'bg-error-soft text-error-text')}
            >
              <span className="w-10 shrink-0 pr-3 text-right text-muted select-none">{number}</span>
              <span className="whitespace-pre">{text === '' ? ' ' : text}</span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** The sandbox names the line at the end of a message. */
export function lineOf(message: string): number | undefined {
  const [, line] = /\(line (\d+)\)\.?$/.exec(message) ?? []
  return line === undefined ? undefined : Number(line)
}

/** Lines above and below the failed one. */
const around = 4
