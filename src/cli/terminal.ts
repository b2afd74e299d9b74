import { writeSync } from 'node:fs'
import { readHidden } from './hidden-input.ts'

/** The three streams of the process. Data goes to standard output, people's words to standard error. */
export interface Terminal {
  /** A line (or lines) of data. */
  print(text: string): void
  /** A line (or lines) for people. */
  say(text: string): void
  /** A piece of a text that is shown while it comes, on the stream of either. */
  show(piece: string, stream: 'data' | 'words'): void
  /** Whether people are reading standard error right now. */
  readonly interactive: boolean
  /** All of standard input. */
  input(): Promise<string>
  /**
   * A secret: a line typed unseen behind `prompt` where somebody sits at a terminal, else all of standard input without
   * the line break at its end. Undefined when whoever typed gave up.
   */
  secret(prompt: string): Promise<string | undefined>
}

/** Writes at once and whole: nothing is lost when the process exits right after. */
export const processTerminal: Terminal = {
  print: (text) => writeAll(1, `${text}\n`),
  say: (text) => writeAll(2, `${text}\n`),
  show: (piece, stream) => writeAll(stream === 'data' ? 1 : 2, piece),
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

function writeAll(descriptor: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      // A pipe that somebody made non-blocking and that is full: wait for its reader.
      if (code === 'EAGAIN') Bun.sleepSync(1)
      // The reader has seen enough (`millrace config | head`), or the stream was closed before the start.
      else if (code === 'EPIPE' || code === 'EBADF') return
      else throw error
    }
  }
}
