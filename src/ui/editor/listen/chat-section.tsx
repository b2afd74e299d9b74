import { Send } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import type { StartError } from '../run/start-error.ts'
import type { Runs } from '../run/use-runs.ts'
import { ListenSection } from './listen-section.tsx'

/** Runs the draft with a message for its chat trigger: one that is written here, or one that a test address takes. */
export function ChatSection({ blockId, runs }: { blockId: string; runs: Runs }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<StartError>()
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') return
    setError(await runs.runWith({ trigger: 'chat', input: { input: text } }))
  }
  return (
    <>
      <form onSubmit={send} className="flex flex-col gap-2">
        <TextField label="Test message" value={text} onChange={setText} />
        <div>
          <Button size="small" type="submit" icon={<Send size={13} />} disabled={text.trim() === ''}>
            Run with this text
          </Button>
        </div>
        {error && (
          <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-error-text">
            {[error.text, ...error.problems.map((problem) => problem.text)].join(' ')}
          </p>
        )}
      </form>
      <ListenSection blockId={blockId} trigger="chat" runs={runs} />
    </>
  )
}
