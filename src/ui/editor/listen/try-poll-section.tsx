import { useMutation } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight, Pin, Play, Search } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { useEditing } from '../editing.tsx'
import { usePins } from '../pins/pins.tsx'
import type { Runs } from '../run/use-runs.ts'

/** Sends the request of a polling trigger once, shows the items, and runs the draft with one of them. */
export function TryPollSection({ blockId, trigger, runs }: { blockId: string; trigger: 'poll' | 'rss'; runs: Runs }) {
  const { workflowId } = useEditing()
  const pins = usePins()
  const [index, setIndex] = useState(0)
  const attempt = useMutation({
    mutationFn: async () => {
      if (!(await runs.save())) throw new Error('The workflow could not be saved. The poll uses the saved draft.')
      return await call('POST /api/editor/workflows/:id/try-poll', { params: { id: workflowId }, body: { blockId } })
    },
    onSuccess: () => setIndex(0),
  })
  const { data } = attempt
  const item = data?.items[index]
  return (
    <section aria-label="Try this poll" className="flex flex-col gap-2">
      <h3 className="text-xs font-medium">Items</h3>
      {!data && <p className="text-xs text-muted">Sends the request once, and remembers and starts nothing.</p>}
      {data?.error != null && (
        <p role="status" className="rounded-md bg-warn-soft px-2 py-1.5 text-xs break-words text-warn-text">
          {data.error}
        </p>
      )}
      {data && data.error === null && data.count === 0 && (
        <p role="status" className="text-xs text-muted">
          The list is empty.
        </p>
      )}
      {data && item !== undefined && (
        <>
          <div role="status" className="flex items-center gap-1 text-xs text-muted">
            <span className="flex-1">
              Item {index + 1} of {data.count}
              {data.items.length < data.count && `, of which the first ${data.items.length} are shown`}
            </span>
            <Button
              size="small"
              icon={<ChevronLeft size={13} />}
              aria-label="Previous item"
              disabled={index === 0}
              onClick={() => setIndex(index - 1)}
            />
            <Button
              size="small"
              icon={<ChevronRight size={13} />}
              aria-label="Next item"
              disabled={index + 1 >= data.items.length}
              onClick={() => setIndex(index + 1)}
            />
          </div>
          <JsonView label={`Item ${index + 1}`} value={item} openDepth={1} />
        </>
      )}
      <div className="flex flex-wrap gap-2">
        {item !== undefined && (
          <>
            <Button
              size="small"
              look="primary"
              icon={<Play size={13} />}
              onClick={() => void runs.runItem(trigger, item)}
            >
              Run with this item
            </Button>
            <Button size="small" icon={<Pin size={13} />} onClick={() => void pins.pin(blockId, { item })}>
              Pin to the trigger
            </Button>
          </>
        )}
        <Button size="small" icon={<Search size={13} />} busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {data ? 'Try again' : 'Try this poll'}
        </Button>
      </div>
      <ErrorNote error={attempt.error} />
    </section>
  )
}
