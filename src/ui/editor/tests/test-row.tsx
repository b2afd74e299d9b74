import { CheckCheck, CircleCheck, CircleDashed, CircleX, Ellipsis, Play, Trash2, TriangleAlert } from 'lucide-react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Spinner } from '../../parts/spinner.tsx'
import { durationText } from '../../parts/time-text.ts'
import { useEditing } from '../editing.tsx'
import { NameField } from '../name-field.tsx'
import { TestFailure } from './test-failure.tsx'
import type { Test, TestResult } from './test-queries.ts'

/** One test: its name, its last result with the reasons of a failure, and its actions. */
export function TestRow({
  test,
  result,
  isRunning,
  isBlocked,
  taken,
  onRun,
  onUpdate,
  onRename,
  onDelete,
}: {
  test: Test
  result: TestResult | undefined
  isRunning: boolean
  /** Whether other tests are running. */
  isBlocked: boolean
  /** Whether another test has this name. */
  taken: (name: string) => boolean
  onRun: () => void
  onUpdate: () => void
  onRename: (name: string) => void
  onDelete: () => void
}) {
  const { readOnly } = useEditing()
  const { name } = test
  return (
    <li className="px-5 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <StatusIcon result={result} isRunning={isRunning} />
        <div className="min-w-40 flex-1">
          <NameField
            label={`Name of the test ${name}`}
            name={name}
            readOnly={readOnly}
            errorOf={(wanted) => (taken(wanted) ? 'Another test has this name.' : undefined)}
            onRename={onRename}
            className="font-medium"
          />
          <div className="text-xs text-muted">{isRunning ? 'Running…' : resultText(result)}</div>
        </div>
        {!readOnly && (
          <span className="flex gap-1.5">
            <Button
              size="small"
              icon={<Play size={13} />}
              disabled={isBlocked}
              aria-label={`Run the test ${name}`}
              onClick={onRun}
            >
              Run
            </Button>
            <Menu
              align="end"
              trigger={<IconButton label={`More for the test ${name}`} size="small" icon={<Ellipsis size={15} />} />}
              entries={[
                {
                  label: 'Update expectation',
                  icon: <CheckCheck size={15} />,
                  disabled: isBlocked,
                  onSelect: onUpdate,
                },
                'separator',
                { label: 'Delete', icon: <Trash2 size={15} />, danger: true, onSelect: onDelete },
              ]}
            />
          </span>
        )}
      </div>
      {result && result.status !== 'passed' && !isRunning && (
        <TestFailure result={result} {...(readOnly ? {} : { onUpdate })} isBlocked={isBlocked} />
      )}
    </li>
  )
}

function resultText(result: TestResult | undefined): string {
  if (!result) return 'Not run since you opened the page'
  const took = durationText(result.durationMs)
  switch (result.status) {
    case 'passed':
      return `Passed in ${took}`
    case 'failed':
      return `Failed after ${took}`
    case 'stale':
      return 'Names blocks that the draft no longer has'
  }
}

/** Hidden from screen readers, because the text beside it says the same. */
function StatusIcon({ result, isRunning }: { result: TestResult | undefined; isRunning: boolean }) {
  if (isRunning) return <Spinner size={16} className="text-accent" />
  switch (result?.status) {
    case 'passed':
      return <CircleCheck size={16} aria-hidden="true" className="shrink-0 text-ok-text" />
    case 'failed':
      return <CircleX size={16} aria-hidden="true" className="shrink-0 text-error-text" />
    case 'stale':
      return <TriangleAlert size={16} aria-hidden="true" className="shrink-0 text-warn-text" />
    default:
      return <CircleDashed size={16} aria-hidden="true" className="shrink-0 text-muted" />
  }
}
