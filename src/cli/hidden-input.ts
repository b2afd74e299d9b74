/** A terminal that keys are read from one by one. */
export type Keyboard = {
  bytes: AsyncIterable<Uint8Array>
  /** Whether keys come at once and unseen, instead of line by line and shown. */
  setRaw(isRaw: boolean): void
  /** Without a line break. */
  show(text: string): void
}

/** One line that nobody sees being typed; undefined when Ctrl-C or Ctrl-D ended it. */
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
