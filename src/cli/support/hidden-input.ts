/** A terminal that can be read key by key. */
export type Keyboard = {
  bytes: AsyncIterable<Uint8Array>
  /** Raw mode delivers each key immediately and does not show it. */
  setRaw(isRaw: boolean): void
  /** Without a line break. */
  show(text: string): void
}

/** Reads one line without showing it; undefined when Ctrl-C or Ctrl-D ended it. */
export async function readHidden(keyboard: Keyboard, prompt: string): Promise<string | undefined> {
  const decoder = new TextDecoder()
  const typed: string[] = []
  keyboard.setRaw(true)
  keyboard.show(prompt)
  try {
    for await (const chunk of keyboard.bytes) {
      for (const key of decoder.decode(chunk, { stream: true })) {
        if (key === '\r' || key === '\n') return typed.join('')
        if (key === ctrlC || key === ctrlD) return undefined
        if (key === '\x7f' || key === '\b') typed.pop()
        else if (key === ctrlU) typed.length = 0
        else typed.push(key)
      }
    }
    return undefined
  } finally {
    keyboard.setRaw(false)
    keyboard.show('\n')
  }
}

const ctrlC = '\x03'
const ctrlD = '\x04'
const ctrlU = '\x15'
