import { Database } from 'bun:sqlite'

/**
 * The server to compare the service with: a bare `Bun.serve` that reads the JSON body, writes one row per request in
 * group commits with the same durability (WAL, `synchronous=FULL`), and responds when its group is on disk. `bun
 * bench/support/bare-server.ts <database file>` prints its port.
 */
const [file = ':memory:'] = process.argv.slice(2)
const database = new Database(file, { create: true })
database.run('PRAGMA journal_mode = WAL')
database.run('PRAGMA synchronous = FULL')
database.run(
  'CREATE TABLE runs (id INTEGER PRIMARY KEY, execution TEXT NOT NULL, at INTEGER NOT NULL, output TEXT NOT NULL)',
)
const insert = database.prepare('INSERT INTO runs (execution, at, output) VALUES (?, ?, ?)')

type Entry = { execution: string; at: number; output: string; written: () => void }
let waiting: Entry[] = []
let scheduled = false

function commit(): void {
  scheduled = false
  const group = waiting
  waiting = []
  database.run('BEGIN IMMEDIATE')
  for (const { execution, at, output } of group) insert.run(execution, at, output)
  database.run('COMMIT')
  for (const { written } of group) written()
}

function append(output: string): Promise<string> {
  return new Promise((resolve) => {
    const execution = Bun.randomUUIDv7()
    waiting.push({ execution, at: Date.now(), output, written: () => resolve(execution) })
    if (scheduled) return
    scheduled = true
    setImmediate(commit)
  })
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/execute': {
      POST: async (request) => {
        const output = JSON.stringify(await request.json())
        const execution = await append(output)
        return new Response(`{"success":true,"executionId":"${execution}","output":${output}}`, {
          headers: { 'content-type': 'application/json' },
        })
      },
    },
  },
})
console.log(server.port)
