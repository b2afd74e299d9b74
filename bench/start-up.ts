import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executable, median, residentMb } from './support/service.ts'

/**
 * The time from exec to the first 200, and the idle memory: the executable with an existing installation, compared with
 * a compiled bare `Bun.serve`. `live` is the first response of `/health/live`, `ready` the first of `/health/ready`,
 * which needs a successful commit. `bun bench/start-up.ts [rounds]` alternates and prints medians.
 */
const [rounds = 15] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'millrace-start-'))

async function compileBare(): Promise<string> {
  const source = join(folder, 'bare.ts')
  const outfile = join(folder, 'bare')
  await Bun.write(
    source,
    `Bun.serve({ port: Number(process.argv[2]), routes: { '/health': () => new Response('ok') } })`,
  )
  const built = await Bun.build({
    entrypoints: [source],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    minify: true,
    compile: { outfile },
  })
  if (!built.success) throw new Error('The bare server could not be compiled')
  return outfile
}

type Start = { ms: number; mb: number }

async function start(
  command: string[],
  port: number,
  path: string,
  environment: Record<string, string>,
): Promise<Start> {
  const startedAt = performance.now()
  const server = Bun.spawn(command, { env: { ...Bun.env, ...environment }, stdout: 'ignore', stderr: 'ignore' })
  const giveUpAt = startedAt + 10_000
  for (;;) {
    if (performance.now() > giveUpAt) throw new Error(`${command.join(' ')} did not answer 200 on ${path}`)
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { keepalive: false })
      if (response.status === 200) break
    } catch {
      await Bun.sleep(0.2)
    }
    if (server.exitCode !== null) throw new Error(`${command.join(' ')} ended with ${server.exitCode}`)
  }
  const ms = performance.now() - startedAt
  await Bun.sleep(1500)
  const mb = await residentMb(server.pid)
  server.kill('SIGKILL')
  await server.exited
  return { ms, mb }
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() })
  const { port } = probe
  probe.stop(true)
  return port ?? 0
}

const bareExecutable = await compileBare()
const data = join(folder, 'data')
const environment = { MILLRACE_DATA: data }
Bun.spawnSync([executable, 'init'], { env: { ...Bun.env, ...environment } })
const results = { bare: [] as Start[], live: [] as Start[], ready: [] as Start[] }
for (let round = 0; round < rounds; round += 1) {
  const port = `${freePort()}`
  results.bare.push(await start([bareExecutable, port], Number(port), '/health', {}))
  const settings = { ...environment, MILLRACE_PORT: port }
  results.live.push(await start([executable, 'serve'], Number(port), '/health/live', settings))
  results.ready.push(await start([executable, 'serve'], Number(port), '/health/ready', settings))
}
rmSync(folder, { recursive: true })

const of = (name: keyof typeof results, member: keyof Start) => median(results[name].map((each) => each[member]))
console.log(`${rounds} rounds, medians`)
console.log('            to the first 200, ms    of bare   resident after 1.5 s, MB')
for (const name of ['bare', 'live', 'ready'] as const) {
  const ratio = of(name, 'ms') / of('bare', 'ms')
  const cells = [
    of(name, 'ms').toFixed(1).padStart(20),
    ratio.toFixed(2).padStart(11),
    of(name, 'mb').toFixed(1).padStart(27),
  ]
  console.log(`${name.padEnd(12)}${cells.join('')}`)
}
