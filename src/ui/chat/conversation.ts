/** What one tab remembers of a chat, so that a reload loses nothing. */

export type Message = { role: 'user' | 'assistant'; text: string }

export type Remembered = { conversationId: string | null; messages: Message[]; secret: string | null }

const nothing: Remembered = { conversationId: null, messages: [], secret: null }

export function recall(identifier: string): Remembered {
  try {
    return { ...nothing, ...(JSON.parse(sessionStorage.getItem(nameOf(identifier)) ?? '{}') as Partial<Remembered>) }
  } catch {
    // Storage that is switched off, or holds something else, means that nothing was said.
    return { ...nothing, messages: [] }
  }
}

export function remember(identifier: string, remembered: Remembered): void {
  try {
    sessionStorage.setItem(nameOf(identifier), JSON.stringify(remembered))
  } catch {
    // The conversation goes on without it.
  }
}

function nameOf(identifier: string): string {
  return `millrace.chat.${identifier}`
}
