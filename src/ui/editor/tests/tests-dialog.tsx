import { useQuery } from '@tanstack/react-query'
import { FlaskConical, Play } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { countOf } from '../../parts/amount-text.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import { useMakeTest } from './make-test.tsx'
import { type TestResults, type Tests, testsQuery, useTestActions } from './test-queries.ts'
import { TestRow } from './test-row.tsx'

/** The tests of the draft: their last results, and actions to run, update, rename and delete them. */
export function TestsDialog({ autosave, onClose }: { autosave: Autosave; onClose: () => void }) {
  const name = useDraft(({ document }) => document.name)
  return (
    <Dialog
      onClose={onClose}
      title={`Tests of ${name}`}
      description="A test runs the draft with a fixed input, a fixed clock and fixed answers. No request leaves the service."
      width="wide"
    >
      <TestsView autosave={autosave} />
    </Dialog>
  )
}

function TestsView({ autosave }: { autosave: Autosave }) {
  const { workflowId, readOnly } = useEditing()
  const { data, error, refetch } = useQuery(testsQuery(workflowId))
  const { results, run, rename, remove } = useTestActions(autosave)
  const toast = useToast()
  const [deleting, setDeleting] = useState<string>()
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  const { tests } = data
  const busy = run.isPending ? (run.variables.names ?? tests.map((test) => test.name)) : []
  return (
    <>
      {tests.length === 0 ? (
        <NoTests />
      ) : (
        <ul aria-label="Tests" className="min-h-0 flex-1 divide-y divide-line overflow-y-auto border-t border-line">
          {tests.map((test) => (
            <TestRow
              key={test.name}
              test={test}
              result={results[test.name]}
              isRunning={busy.includes(test.name)}
              isBlocked={run.isPending}
              taken={(wanted) => tests.some((other) => other !== test && other.name === wanted)}
              onRun={() => run.mutate({ names: [test.name] })}
              onUpdate={() => run.mutate({ names: [test.name], update: true })}
              onRename={(next) => void rename(test.name, next).catch(toast.fail)}
              onDelete={() => setDeleting(test.name)}
            />
          ))}
        </ul>
      )}
      <DialogActions>
        <span role="status" className="mr-auto self-center text-sm text-muted">
          {run.isPending ? `Running ${countOf(busy.length, 'test')}…` : summaryOf(tests, results)}
        </span>
        <MakeTestOfShownRun />
        {tests.length > 0 && (
          <Button
            look="primary"
            icon={<Play size={14} />}
            busy={run.isPending}
            disabled={readOnly}
            onClick={() => run.mutate({})}
          >
            Run all
          </Button>
        )}
      </DialogActions>
      <Confirm
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={`Delete the test ${deleting}?`}
        action="Delete"
        onConfirm={async () => deleting !== undefined && (await remove(deleting))}
      >
        The workflow itself does not change.
      </Confirm>
    </>
  )
}

function NoTests() {
  return (
    <Empty icon={<FlaskConical size={22} />} title="No tests yet">
      Run the workflow, or open one of its runs in the log, and choose “Make a test”. The test keeps the input, the
      answers to its requests, and the outcome of the run. <DocsLink to={docs.tests}>How tests work</DocsLink>
    </Empty>
  )
}

/** Offers a test from the run that the canvas shows. */
function MakeTestOfShownRun() {
  const { workflowId, run, readOnly } = useEditing()
  const { executionId, phase } = useSyncExternalStore(run.watch, run.state)
  const make = useMakeTest(workflowId)
  if (readOnly || executionId === undefined || (phase !== 'success' && phase !== 'error')) return null
  return (
    <Button icon={<FlaskConical size={14} />} busy={make.isPending} onClick={() => make.mutate(executionId)}>
      Make a test
    </Button>
  )
}

/** `3 tests, 2 passed, 1 failed`. */
export function summaryOf(tests: Tests['tests'], results: TestResults): string {
  if (tests.length === 0) return ''
  const found = tests.flatMap(({ name }) => results[name] ?? [])
  const count = (status: string) => found.filter((result) => result.status === status).length
  const parts = (['passed', 'failed', 'stale'] as const).flatMap((status) => {
    return count(status) === 0 ? [] : [`${count(status)} ${status}`]
  })
  const left = tests.length - found.length
  if (found.length > 0 && left > 0) parts.push(`${left} not run`)
  return [countOf(tests.length, 'test'), ...parts].join(', ')
}
