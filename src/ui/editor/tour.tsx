import { ArrowRight, X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { remember, remembered } from '../shell/browser-memory.ts'
import { useDraft, useEditing } from './editing.tsx'

const storageKey = 'millrace.tour'

/** A three-step introduction to the sample workflow. Doing a step completes it. Closing it is remembered. */
export function Tour({ onRun, onCall }: { onRun: () => void; onCall: () => void }) {
  const { run } = useEditing()
  const [at, setAt] = useState(() => (remembered(storageKey) === 'done' ? steps.length : 0))
  const isSample = useDraft(({ document }) =>
    Object.values(document.blocks).some(({ params }) => String(params?.['url']).endsWith('/sample/quotes')),
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
  const act = [onRun, undefined, onCall][at]
  return (
    <section aria-label="First steps" className="popup absolute right-3 bottom-3 z-20 w-84 max-w-[calc(100%-24px)] p-4">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1" aria-live="polite">
          <p className="text-2xs font-medium text-muted">
            {at + 1} of {steps.length}
          </p>
          <h2 className="mt-0.5 text-sm font-semibold">{step.title}</h2>
        </div>
        <IconButton label="Close first steps" icon={<X size={15} />} size="small" side="left" onClick={end} />
      </div>
      <p className="mt-1 text-sm text-muted">{step.text}</p>
      <div className="mt-3 flex items-center justify-between">
        <div className="flex gap-1" aria-hidden="true">
          {steps.map(({ title }, index) => (
            <span key={title} className={`h-1.5 w-5 rounded-full ${index <= at ? 'bg-accent' : 'bg-pressed'}`} />
          ))}
        </div>
        <Button
          size="small"
          icon={<ArrowRight size={13} />}
          onClick={() => {
            act?.()
            if (at === steps.length - 1) end()
            else if (!act) setAt(at + 1)
          }}
        >
          {step.action}
        </Button>
      </div>
    </section>
  )
}

const steps = [
  {
    title: 'Run it',
    text: 'This workflow fetches a quote and returns it. It is already deployed. Run it and watch each block.',
    action: 'Run',
  },
  {
    title: 'Look inside',
    text: 'Click a block to see its parameters and output. Type < in a field to use an earlier block’s output.',
    action: 'Next',
  },
  {
    title: 'Call it',
    text: 'Call this workflow with curl, TypeScript or Python. Your changes go live when you deploy.',
    action: 'Show me how',
  },
]
