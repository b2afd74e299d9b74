import { CheckCheck } from 'lucide-react'
import { useState } from 'react'
import { countOf } from '../../parts/amount-text.ts'
import { Button } from '../../parts/button.tsx'
import { ValueDiff } from '../diff/value-diff.tsx'
import type { TestResult } from './test-queries.ts'

/** Why a test failed: what was expected and what happened. A stale test shows which blocks it probably means. */
export function TestFailure({
  result: { name, status, differences, renames },
  isBlocked,
  onUpdate,
}: {
  result: TestResult
  isBlocked: boolean
  /** Absent for people who may not change the test. */
  onUpdate?: () => void
}) {
  const [shown, setShown] = useState(shownMax)
  const proposals = Object.entries(renames ?? {})
  return (
    <section aria-label={`Result of the test ${name}`} className="mt-2 flex flex-col gap-2 pl-7 max-md:pl-0">
      {proposals.length > 0 && (
        <ul className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn-text">
          {proposals.map(([from, to]) => (
            <li key={from} className="break-words">
              “{from}” is probably called “{to}” now.
            </li>
          ))}
        </ul>
      )}
      {differences.length > 0 && (
        <div className="rounded-lg border border-line bg-surface px-3 py-2">
          <dl className="flex flex-col gap-2.5">
            {differences.slice(0, shown).map(({ path, message, expect, actual }, index) =>
              expect === undefined && actual === undefined ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: several differences may be at one path
                <div key={index} className="grid gap-x-3 gap-y-0.5 md:grid-cols-[10rem_minmax(0,1fr)]">
                  <dt className="pt-0.5 text-xs break-words text-muted">{path}</dt>
                  <dd className="min-w-0 text-sm break-words whitespace-pre-wrap">{message}</dd>
                </div>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: several differences may be at one path
                <ValueDiff key={index} label={path} before={expect} after={actual} />
              ),
            )}
          </dl>
          {differences.length > shown && (
            <Button size="small" className="mt-2" onClick={() => setShown(shown + shownMax)}>
              Show {countOf(Math.min(shownMax, differences.length - shown), 'more difference')}
            </Button>
          )}
        </div>
      )}
      {onUpdate && (
        <Button
          size="small"
          icon={<CheckCheck size={13} />}
          className="self-start"
          disabled={isBlocked}
          aria-label={`${status === 'stale' ? 'Use the new names in' : 'Update expectation of'} ${name}`}
          onClick={onUpdate}
        >
          {status === 'stale' ? 'Use the new names' : 'Update expectation'}
        </Button>
      )}
    </section>
  )
}

const shownMax = 20
