import { writeSync } from 'node:fs'

/** The three streams of the process. Data goes to standard output, people's words to standard error. */
export interface Terminal {
  /** A line (or lines) of data. */
  print(text: string): void
  /** A line (or lines) for people. */
  say(text: string): void
  /** Whether people are reading standard error right now. */
  readonly interactive: boolean
  /** All of standard input. */
  input(): Promise<string>
}

/** Writes at once and whole: nothing is lost when the process exits right after. */
export const processTerminal: Terminal = {
  print: (text) => writeAll(1, `${text}\n`),
  say: (text) => writeAll(2, `${text}\n`),
  get interactive() {
    return process.stderr.isTTY === true
  },
  input: () => Bun.stdin.text(),
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
