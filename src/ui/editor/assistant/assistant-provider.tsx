import { Sparkles } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { useMe } from '../../api/session.ts'
import { useCommands } from '../../shell/commands.tsx'
import { useEditing } from '../editing.tsx'
import { asksForExplanation, editorAddress, namedRun } from '../run/run-address.ts'
import { type Assistant, AssistantContext } from './assistant-context.tsx'
import { Conversation } from './conversation.ts'
import { explainQuestion } from './explain-question.ts'

/** Holds the conversation while the editor is open, with the panel open or closed. */
export function AssistantProvider({ children }: { children: ReactNode }) {
  const { workflowId, draft, readOnly } = useEditing()
  const { assistant } = useMe().service
  const [isOpen, setOpen] = useState(false)
  const conversation = useMemo(() => new Conversation(workflowId, draft), [workflowId, draft])
  useEffect(() => () => conversation.stop(), [conversation])
  const model = readOnly ? undefined : assistant?.model
  const value = useMemo<Assistant | undefined>(() => {
    if (model === undefined) return undefined
    return {
      ...{ conversation, model, isOpen, setOpen },
      open(question) {
        setOpen(true)
        if (question) void conversation.ask(question)
      },
    }
  }, [conversation, model, isOpen])
  const isOn = value !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once, when the editor opens
  useEffect(() => {
    const executionId = namedRun(location.search)
    if (!isOn || executionId === undefined || !asksForExplanation(location.search)) return
    // A reload does not ask again.
    history.replaceState(history.state, '', editorAddress(workflowId, executionId))
    value.open(explainQuestion(executionId))
  }, [isOn])
  useCommands(
    value
      ? [
          {
            ...{ id: 'assistant', label: 'Assistant', group: 'Workflow', words: 'ai describe explain help' },
            icon: <Sparkles size={15} />,
            run: () => value.open(),
          },
        ]
      : [],
  )
  return <AssistantContext value={value}>{children}</AssistantContext>
}
