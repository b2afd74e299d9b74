/** The state of a chat in one tab. It survives a reload. */

/** `executionId`: set while the message waits for the reply of a paused run. */
export type Message = { role: 'user' | 'assistant'; text: string; executionId?: string }

export type Remembered = { conversationId: string | null; messages: Message[]; secret: string | null }

const nothing: Remembered = { conversationId: null, messages: [], secret: null }

export function recall(identifier: string): Remembered {
  try {
    return { ...nothing, ...(JSON.parse(sessionStorage.getItem(nameOf(identifier)) ?? '{}') as Partial<Remembered>) }
  } catch {
    // Without storage, or with an unreadable value, the conversation starts empty.
    return { ...nothing, messages: [] }
  }
}

export function remember(identifier: string, remembered: Remembered): void {
  try {
    sessionStorage.setItem(nameOf(identifier), JSON.stringify(remembered))
  } catch {
    // The conversation continues without storage.
  }
}

function nameOf(identifier: string): string {
  return `millrace.chat.${identifier}`
}
