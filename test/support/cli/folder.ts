import { expect } from 'bun:test'
import { hashKey } from '../../../src/accounts/keys.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import type { KeyRow } from '../../../src/store/account-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { openStoreOf, storeSettings } from '../store/test-store.ts'
import { MemoryTerminal } from './memory-terminal.ts'

/** The output of `init` and `users create`. */
export type Made = { userId: string; workspaceId: string; apiKey: string }

/** Runs a command on a data folder in this process. `input` is its standard input. */
export async function call(folder: string, ...words: (string | { input: string })[]) {
  const input = words.find((word) => typeof word !== 'string')
  const terminal = new MemoryTerminal(input)
  const texts = words.filter((word) => typeof word === 'string')
  const code = await runCommandLine([...texts, '--data', folder], {
    terminal,
    environment: await storeSettings(folder),
  })
  return { code, out: terminal.out, words: terminal.words }
}

/** The same with `--json`. The command must succeed. */
export async function json<Data>(folder: string, ...words: string[]): Promise<Data> {
  const { code, out, words: said } = await call(folder, ...words, '--json')
  expect({ code, said }).toEqual({ code: 0, said: '' })
  return JSON.parse(out) as Data
}

export async function withStore<Result>(folder: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStoreOf(folder)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

export function findKey(folder: string, apiKey: string): Promise<KeyRow | undefined> {
  return withStore(folder, (store) => store.findKey(hashKey(apiKey)))
}

export type Diagnosis = { check: string; state: string; message: string; advice?: string }

/** The findings of `doctor`. By default with a log limit that fits on every disk. */
export async function diagnose(folder: string, ...words: string[]) {
  const bound = words.includes('--log-retention-bytes') ? [] : ['--log-retention-bytes', '10MB']
  const { code, out } = await call(folder, 'doctor', '--json', ...bound, ...words)
  const found = JSON.parse(out) as Diagnosis[]
  return { code, found, of: (check: string) => found.find((one) => one.check === check) }
}
