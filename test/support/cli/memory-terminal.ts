import type { Terminal } from '../../../src/cli/support/terminal.ts'

/** A terminal that records its output. */
export class MemoryTerminal implements Terminal {
  readonly interactive: boolean
  readonly #input: string
  #out = ''
  #words = ''

  constructor({ interactive = false, input = '' }: { interactive?: boolean; input?: string } = {}) {
    this.interactive = interactive
    this.#input = input
  }

  /** Standard output. */
  get out(): string {
    return this.#out
  }

  /** Standard error. */
  get words(): string {
    return this.#words
  }

  print(text: string): void {
    this.#out += `${text}\n`
  }

  show(piece: string, stream: 'data' | 'words'): void {
    if (stream === 'data') this.#out += piece
    else this.#words += piece
  }

  say(text: string): void {
    this.#words += `${text}\n`
  }

  async input(): Promise<string> {
    return this.#input
  }
  async secret(prompt: string): Promise<string | undefined> {
    if (this.interactive) this.#words += prompt
    return this.#input.replace(/\r?\n$/, '')
  }
}
