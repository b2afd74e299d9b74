import type { App } from '../../../src/app.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'

/** Runs a command against a service, without access to its data folder. */
export async function callService({ address }: App, apiKey: string, words: readonly string[]) {
  const terminal = new MemoryTerminal()
  const environment = { MILLRACE_URL: address.url, MILLRACE_API_KEY: apiKey }
  const code = await runCommandLine(words, { terminal, environment })
  return { code, out: terminal.out, words: terminal.words }
}
