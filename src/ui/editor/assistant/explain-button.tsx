import { Sparkles } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { useAssistant } from './assistant-context.tsx'

/** Asks the assistant why a run failed. Nothing while the assistant is off. */
export function ExplainButton({ executionId, block }: { executionId: string | undefined; block?: string | undefined }) {
  const assistant = useAssistant()
  if (!assistant || executionId === undefined) return null
  const place = block === undefined ? '' : ` at the block "${block}"`
  return (
    <Button
      size="small"
      className="self-start"
      icon={<Sparkles size={13} />}
      onClick={() =>
        assistant.open({
          text: `Explain why the run ${executionId} failed${place}, and propose a correction.`,
          shown: `Explain why the run failed${place}, and propose a correction.`,
        })
      }
    >
      Explain
    </Button>
  )
}
