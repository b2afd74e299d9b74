import { writeSync } from 'node:fs'
import { escapeControls } from './control-characters.ts'
import { readHidden } from './hidden-input.ts'

/** The three streams of the process. Data goes to standard output, messages for people to standard error. */
export interface Terminal {
  /** A line (or lines) of data. */
  print(text: string): void
  /** A line (or lines) for people. */
  say(text: string): void
  /** A piece of text that is shown as it arrives, on the stream for data or for messages. */
  show(piece: string, stream: 'data' | 'words'): void
  /** Whether standard error is a terminal. */
  readonly interactive: boolean
  /** All of standard input. */
  input(): Promise<string>
  /**
   * Reads a secret: at a terminal, a hidden line after `prompt`; otherwise all of standard input without the final line
   * break. Undefined when the user cancelled.
   */
  secret(prompt: string): Promise<string | undefined>
}

/**
 * Writes synchronously and completely, so that nothing is lost when the process exits right after. Messages, and data
 * that a terminal shows, contain no control characters; data for a file or another program is unchanged.
 */
export const processTerminal: Terminal = {
  print: (text) => writeAll(1, `${dataOf(text)}\n`),
  say: (text) => writeAll(2, `${escapeControls(text)}\n`),
  show: (piece, stream) => (stream === 'data' ? writeAll(1, dataOf(piece)) : writeAll(2, escapeControls(piece))),
  get interactive() {
    return process.stderr.isTTY === true
  },
  input: () => Bun.stdin.text(),
  async secret(prompt) {
    const { stdin } = process
    if (!stdin.isTTY) return (await Bun.stdin.text()).replace(/\r?\n$/, '')
    const setRaw = (isRaw: boolean) => void stdin.setRawMode(isRaw)
    return await readHidden({ bytes: stdin, setRaw, show: (text) => writeAll(2, text) }, prompt)
  },
}

function dataOf(text: string): string {
  return process.stdout.isTTY === true ? escapeControls(text) : text
}

function writeAll(descriptor: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      // A non-blocking pipe is full: wait for its reader.
      if (code === 'EAGAIN') Bun.sleepSync(1)
      // The reader has closed the pipe (`millrace config | head`), or the stream was closed before the start.
      else if (code === 'EPIPE' || code === 'EBADF') return
      else throw error
    }
  }
}
