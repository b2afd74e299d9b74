import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { databasePath } from '../src/store/sqlite/open.ts'
import { cleanEnvironment, executable } from '../test/support/executable.ts'
import { PostgresServer } from '../test/support/store/postgres.ts'
import { seed } from './support/logs-seed.ts'

/**
 * How long does it take to move an installation to PostgreSQL and back? `bun bench/move.ts [entries] [share with
 * spans] [folder]` seeds an installation (in the folder, if it is not there yet), and moves it with the built
 * executable, which also compares all rows. The server has its defaults and flushes every commit that asks for it.
 */
const [entries = 1_000_000, spanShare = 0.1] = process.argv.slice(2, 4).map(Number)
const place = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const folder = process.argv[4] ?? join(place, 'data')
const environment = cleanEnvironment({ MILLRACE_SECRET_KEY: 'the-secret-key-of-this-benchmark-has-forty' })

try {
  if (!existsSync(folder)) await seed(folder, entries, spanShare)
  await using server = await PostgresServer.start({ isDurable: true })
  const url = await server.createDatabase()
  const back = join(place, 'back')
  const serverSeconds = () => secondsOf(join(server.folder, 'data', 'postmaster.pid'))
  await move('SQLite to PostgreSQL', folder, url, serverSeconds)
  console.log(`  ${gigabytes(statSync(databasePath(folder)).size)} GB became ${gigabytes(await sizeOf(url))} GB`)
  await move('PostgreSQL to SQLite', url, back, serverSeconds)
  console.log(`  ${gigabytes(statSync(databasePath(back)).size)} GB`)
} finally {
  rmSync(place, { recursive: true })
}

async function move(what: string, from: string, to: string, serverSeconds: () => number): Promise<void> {
  const startedAt = performance.now()
  const serverBefore = serverSeconds()
  const moving = Bun.spawn([executable(), 'move', '--from', from, '--to', to, '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const out = await new Response(moving.stdout).text()
  if ((await moving.exited) !== 0) throw new Error(`The move failed: ${out}`)
  const seconds = (performance.now() - startedAt) / 1000
  // The server counts its processes when they have ended.
  await Bun.sleep(1_000)
  const { tables } = JSON.parse(out) as { tables: Record<string, number> }
  const moved = Object.values(tables).reduce((sum, rows) => sum + rows, 0)
  const { maxRSS, cpuTime } = moving.resourceUsage()!
  console.log(
    `${what}: ${moved} rows in ${seconds.toFixed(0)} s, ${Math.round(moved / seconds)} a second, ` +
      `${(Number(cpuTime.total) / 1e6).toFixed(0)} s of processor time and ` +
      `${(serverSeconds() - serverBefore).toFixed(0)} s of the server, ${Math.round(maxRSS / 1e6)} MB of memory ` +
      `(load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores)`,
  )
}

/** The processor time of a PostgreSQL server and of its processes that have ended. */
function secondsOf(pidFile: string): number {
  const [pid] = readFileSync(pidFile, 'utf8').split('\n')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

async function sizeOf(url: string): Promise<number> {
  const sql = new SQL(url, { max: 1 })
  const [row] = (await sql.unsafe('SELECT pg_database_size(current_database())::float8 AS bytes')) as {
    bytes: number
  }[]
  await sql.close()
  return row!.bytes
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(2)
}
