import { createContext, useContext } from 'react'
import type { Conversation, Question } from './conversation.ts'

export type Assistant = {
  conversation: Conversation
  /** The name of the model. */
  model: string
  isOpen: boolean
  setOpen: (isOpen: boolean) => void
  /** Opens the panel, and asks if there is a question. */
  open: (question?: Question) => void
}

export const AssistantContext = createContext<Assistant | undefined>(undefined)

/** Undefined while the assistant is off, and for viewers. */
export function useAssistant(): Assistant | undefined {
  return useContext(AssistantContext)
}
