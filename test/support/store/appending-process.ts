import { join } from 'node:path'
import type { LogPosition } from '../../../src/store/log-query.ts'
import type { Store } from '../../../src/store/store.ts'
import { entriesOf, logQuery } from './log-model.ts'

export type AppendingProcess = {
  pid: number
  acknowledged: Set<string>
  /** Refused runs, with their error codes. */
  refused: Map<string, string>
  /** `!true`, `!false`: changes of the writer's health. */
  health: string[]
  /** Resolves when `isIt` is true for the output so far. */
  until(isIt: () => boolean): Promise<void>
  kill(signal: NodeJS.Signals): void
  exited: Promise<number>
}

export type AppendingOptions = {
  directory: string
  mode: 'direct' | 'workers'
  /** Runs to record before it ends by itself. */
  wanted: number
  atOnce?: number
  /** A command to run it under. */
  under?: readonly string[]
}

/** Starts `append.ts`. */
export function startAppending({
  directory,
  mode,
  wanted,
  atOnce = 8,
  under = [],
}: AppendingOptions): AppendingProcess {
  const script = join(import.meta.dir, 'append.ts')
  const child = Bun.spawn([...under, process.execPath, script, directory, mode, `${wanted}`, `${atOnce}`], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const acknowledged = new Set<string>()
  const refused = new Map<string, string>()
  const health: string[] = []
  const watchers = new Set<() => void>()

  const read = async () => {
    let rest = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [id = '', code = ''] = line.slice(1).split(' ')
        if (line.startsWith('+')) acknowledged.add(id)
        else if (line.startsWith('-')) refused.set(id, code)
        else if (line.startsWith('!')) health.push(line)
      }
      for (const watcher of [...watchers]) watcher()
    }
  }
  const done = read()

  return {
    pid: child.pid,
    acknowledged,
    refused,
    health,
    until: (isIt) =>
      new Promise((resolve, reject) => {
        const watcher = () => {
          if (isIt()) resolve()
          else return
          watchers.delete(watcher)
        }
        watchers.add(watcher)
        done.then(() => reject(new Error('The process ended before')))
        watcher()
      }),
    kill: (signal) => child.kill(signal),
    exited: Promise.all([child.exited, done]).then(([code]) => code),
  }
}

/** All execution ids on disk. */
export async function recordedIn(store: Store): Promise<Set<string>> {
  const [key] = await store.listKeys()
  const recorded = new Set<string>()
  for (const workspaceId of Object.keys(key?.roles ?? {})) {
    for (let after: LogPosition | undefined; ; ) {
      const page = await store.queryLogs(logQuery(workspaceId, { after }))
      for (const { executionId } of entriesOf(page)) recorded.add(executionId)
      if (page.end === 'last') break
      after = page.position!
    }
  }
  return recorded
}
