import { Sparkles } from 'lucide-react'
import { useLocation } from 'wouter'
import { useMe } from '../../../api/session.ts'
import { explainAddress } from '../../../editor/run/run-address.ts'
import { Button } from '../../../parts/button.tsx'
import type { LogDetail } from '../log-queries.ts'

/** Opens the editor, where the assistant explains the failed run. Renders nothing while the assistant is off. */
export function ExplainLink({ entry }: { entry: LogDetail }) {
  const { assistant } = useMe().service
  const [, navigate] = useLocation()
  if (!assistant) return null
  return (
    <Button
      size="small"
      icon={<Sparkles size={13} />}
      onClick={() => navigate(explainAddress(entry.workflowId, entry.executionId))}
    >
      Explain
    </Button>
  )
}
