import { Pin, Play, Radio, Square } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Spinner } from '../../parts/spinner.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import { usePins } from '../pins/pins.tsx'
import { type Listener, takes } from '../run/test-request.ts'
import type { Runs } from '../run/use-runs.ts'
import { curlOf } from './curl.ts'
import { useListener } from './use-listener.ts'

/** Takes one real request or message for a trigger of the draft, and runs the draft with it. */
export function ListenSection({
  blockId,
  trigger,
  runs,
}: {
  blockId: string
  trigger: Listener['trigger']
  runs: Runs
}) {
  const { workflowId } = useEditing()
  const pins = usePins()
  const document = useDraft((state) => state.document)
  const params = document.blocks[blockId]?.params ?? {}
  const { listener, isOver, start, stop } = useListener(workflowId, trigger, runs.save)
  const { thing } = takes[trigger]
  const request = listener?.request
  const listenAgain = (
    <Button size="small" icon={<Radio size={13} />} busy={start.isPending} onClick={() => start.mutate()}>
      {request ? 'Listen again' : `Listen for a test ${thing}`}
    </Button>
  )
  return (
    <section aria-label={trigger === 'webhook' ? 'Test request' : 'Test address'} className="flex flex-col gap-2">
      {trigger === 'webhook' && <h3 className="text-xs font-medium">Test request</h3>}
      {!listener && (
        <>
          <p className="text-xs text-muted">
            {isOver
              ? 'The test address has ended. Listen again for a new one.'
              : `Takes one real ${thing} at a test address, with the settings of the draft.`}
          </p>
          <div>{listenAgain}</div>
        </>
      )}
      {listener && !request && (
        <>
          <p role="status" className="flex items-center gap-2 text-xs text-muted">
            <Spinner size={12} className="text-accent" />
            Waiting for a {thing}, for up to ten minutes
          </p>
          <Line label="Test address" text={listener.url} />
          <Line label="curl" text={curlOf(trigger, listener.url, { document, params })} />
          <div>
            <Button size="small" icon={<Square size={12} />} onClick={() => stop.mutate()}>
              Stop
            </Button>
          </div>
        </>
      )}
      {request && (
        <>
          <JsonView label="Received" value={request.fields} openDepth={2} />
          <div className="flex flex-wrap gap-2">
            <Button
              size="small"
              look="primary"
              icon={<Play size={13} />}
              onClick={() => void runs.runListened(listener.token)}
            >
              Run with this {thing}
            </Button>
            <Button
              size="small"
              icon={<Pin size={13} />}
              onClick={() => void pins.pin(blockId, request.fields as Record<string, unknown>)}
            >
              Pin to the trigger
            </Button>
            {listenAgain}
          </div>
        </>
      )}
      <ErrorNote error={start.error ?? stop.error} />
    </section>
  )
}

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-1 pl-2.5">
      <code title={label} className="min-w-0 flex-1 font-mono text-2xs break-all">
        {text}
      </code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  )
}
