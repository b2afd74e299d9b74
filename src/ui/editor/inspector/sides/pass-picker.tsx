import { useEditing } from '../../editing.tsx'
import { iterationText } from '../../run/block-run.ts'
import { useRunData } from '../../values/use-run-values.ts'

/** Chooses the pass of a block in a loop or parallel. */
export function PassPicker() {
  const { focus } = useEditing()
  const { passes, pass, executionId } = useRunData()
  if (passes.length < 2 || !pass || executionId === undefined) return null
  return (
    <select
      aria-label="Iteration"
      value={pass.spanId}
      onChange={({ target }) => {
        const chosen = passes.find(({ spanId }) => spanId === target.value)
        if (chosen) focus.choosePass({ executionId, spanId: chosen.spanId, iterations: chosen.iterations })
      }}
      className="chevron h-6 cursor-default appearance-none rounded-md border border-line bg-surface pr-6 pl-2 text-2xs text-text"
    >
      {passes.slice(-passesMax).map(({ spanId, iterations, status }, index) => (
        <option key={spanId} value={spanId}>
          {iterationText(iterations) || `#${index + 1}`}
          {status === 'error' ? ' failed' : ''}
        </option>
      ))}
    </select>
  )
}

const passesMax = 500
