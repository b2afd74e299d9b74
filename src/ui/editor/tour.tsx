import { ArrowRight, X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { Button, IconButton } from '../parts/button.tsx'
import { remember, remembered } from '../shell/browser-memory.ts'
import { useDraft, useEditing } from './editing.tsx'

const storageKey = 'millrace.tour'

/**
 * An introduction to the sample workflow. Doing a step completes it. Closing it is remembered. It has a row of its own,
 * so that it covers nothing that it talks about.
 */
export function Tour({ onRun, onCall }: { onRun: () => void; onCall: () => void }) {
  const { run, workspaceId } = useEditing()
  const [, navigate] = useLocation()
  const [at, setAt] = useState(() => (remembered(storageKey) === 'done' ? steps.length : 0))
  // Workflows of the gallery call the sample route, too.
  const isSample = useDraft(
    ({ document }) =>
      String(document.blocks['quotes']?.params?.['url']).endsWith('/sample/quotes') && 'pick' in document.blocks,
  )
  const isSelected = useDraft(({ selected }) => selected.size === 1)
  const phase = useSyncExternalStore(run.watch, () => run.state().phase)
  useEffect(() => {
    if (at === 0 && phase === 'success') setAt(1)
    if (at === 1 && isSelected) setAt(2)
  }, [at, phase, isSelected])
  const end = () => {
    remember(storageKey, 'done')
    setAt(steps.length)
  }
  const step = steps[at]
  if (!step || !isSample) return null
  const act = [onRun, undefined, onCall, () => navigate(`/w/${workspaceId}/gallery`)][at]
  return (
    <section
      aria-label="First steps"
      className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line bg-surface py-2 pr-2 pl-4"
    >
      <div className="min-w-56 flex-1 text-sm" aria-live="polite">
        <h2 className="inline font-semibold">{step.title}.</h2> <span className="text-muted">{step.text}</span>
      </div>
      <span className="text-2xs text-muted">
        {at + 1} of {steps.length}
      </span>
      <Button
        size="small"
        icon={<ArrowRight size={13} />}
        onClick={() => {
          act?.()
          if (at === steps.length - 1) end()
          else if (at > 0) setAt(at + 1)
        }}
      >
        {step.action}
      </Button>
      <IconButton label="Close first steps" icon={<X size={15} />} size="small" onClick={end} />
    </section>
  )
}

const steps = [
  {
    title: 'Run it',
    text: 'This sample requests quotes, picks one and returns it. Run it and watch the blocks.',
    action: 'Run',
  },
  {
    title: 'Look inside',
    text: 'Click a block to see its settings and its latest output. Type < in a field to use an earlier block’s output.',
    action: 'Next',
  },
  {
    title: 'Call it',
    text: 'The sample is deployed: call it with curl, TypeScript or Python. Your changes go live when you deploy.',
    action: 'Show me how',
  },
  {
    title: 'Start your own',
    text: 'The gallery has ready workflows. Or choose Workflows, New workflow for an empty one.',
    action: 'Open the gallery',
  },
]
