import { Sparkles } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { useAssistant } from './assistant-context.tsx'
import { explainQuestion } from './explain-question.ts'

/** Asks the assistant why a run failed. Renders nothing while the assistant is off. */
export function ExplainButton({ executionId, block }: { executionId: string | undefined; block?: string | undefined }) {
  const assistant = useAssistant()
  if (!assistant || executionId === undefined) return null
  return (
    <Button
      size="small"
      className="self-start"
      icon={<Sparkles size={13} />}
      onClick={() => assistant.open(explainQuestion(executionId, block))}
    >
      Explain
    </Button>
  )
}
