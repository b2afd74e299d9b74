import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '../test/support/programs.ts'
import { freePort, PostgresServer } from '../test/support/store/postgres.ts'
import type { LoadResult } from './support/load.ts'
import { deploy, initMillrace, load, type Millrace, median, serveMillrace } from './support/service.ts'

/**
 * Several processes on one PostgreSQL: gains and costs. `bun bench/cluster.ts [rounds] [ms]` runs PostgreSQL,
 * nginx, the processes and the load on this machine, so only ratios and the processor time of each part mean anything.
 *
 * - one process, and two behind nginx, in turns, with 32 callers and with 64; a single process is behind nginx, too
 * - the processor time per run of the process, of nginx and of PostgreSQL, and what it would mean for three machines
 * - the statements a second that three idle processes send
 */
const [rounds = 4, ms = 3_000] = process.argv.slice(2).map(Number)
const warmUpMs = 3_000
const idleMs = 20_000

const workflow = {
  name: 'Condition',
  blocks: {
    start: { id: 'start', type: 'api_trigger', name: 'Start', params: {} },
    if: { id: 'if', type: 'condition', name: 'If', params: { conditions: [{ id: 'big', expression: '<api.n> > 3' }] } },
    end: { id: 'end', type: 'response', name: 'End', params: { data: { n: '<api.n>' } } },
  },
  edges: [
    { source: 'start', target: 'if', sourceHandle: 'source' },
    { source: 'if', target: 'end', sourceHandle: 'condition-big' },
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const environmentOf = async (server: PostgresServer) => ({
  MILLRACE_STORE: await server.createDatabase(),
  MILLRACE_SECRET_KEY: 'the key of a benchmark that protects nothing',
  MILLRACE_S3_BUCKET: 'unused',
  MILLRACE_S3_REGION: 'unused',
  AWS_ACCESS_KEY_ID: 'unused',
  AWS_SECRET_ACCESS_KEY: 'unused',
})

{
  await using server = await PostgresServer.start({ isDurable: true })
  const environment = await environmentOf(server)
  const installation = initMillrace(folder, environment)
  const services = [await serveMillrace(installation, environment), await serveMillrace(installation, environment)]
  const [first] = services as [Millrace, Millrace]
  const path = new URL(await deploy(first, workflow)).pathname
  const nginx = await startNginx({ one: services.slice(0, 1), two: services })
  const parts = () => ({
    processes: services.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
    nginx: withChildren(nginx.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    postgres: withChildren(server.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0),
  })
  const send = async (port: number, connections: number, forMs: number) => {
    const headers = [`X-API-Key: ${installation.apiKey}`]
    return await load({ url: `http://127.0.0.1:${port}${path}`, connections, ms: forMs, body: '{"n":5}', headers })
  }
  for (const port of Object.values(nginx.ports)) await send(port, 32, warmUpMs)
  for (const callers of [32, 64]) await compare(callers)

  await nginx.stop()
  for (const service of services) await service.stop()

  async function compare(callers: number): Promise<void> {
    const measured = new Map<string, (LoadResult & { cpuMs: ReturnType<typeof parts> })[]>()
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, port] of Object.entries(nginx.ports)) {
        const before = parts()
        const result = await send(port, callers, ms)
        const after = parts()
        const cpuMs = {
          processes: after.processes - before.processes,
          nginx: after.nginx - before.nginx,
          postgres: after.postgres - before.postgres,
        }
        measured.set(name, [...(measured.get(name) ?? []), { ...result, cpuMs }])
      }
    }
    const perSecond = (name: string) => median(measured.get(name)!.map((each) => each.perSecond))
    const perRun = (name: string, part: keyof ReturnType<typeof parts>) =>
      median(measured.get(name)!.map(({ cpuMs, requests }) => (cpuMs[part] * 1_000) / requests))
    const [one, two] = [perSecond('one'), perSecond('two')]
    console.log(`${rounds} rounds of ${ms} ms in turns, ${callers} callers, medians`)
    console.log(`one process   ${one.toFixed(0)} runs/s`)
    console.log(`two processes ${two.toFixed(0)} runs/s, ratio ${(two / one).toFixed(2)}`)
    for (const name of ['one', 'two']) {
      const [service, proxy, database] = (['processes', 'nginx', 'postgres'] as const).map((part) => perRun(name, part))
      console.log(
        `processor time per run with ${name}: process ${service!.toFixed(0)} µs, nginx ${proxy!.toFixed(0)} µs, ` +
          `PostgreSQL ${database!.toFixed(0)} µs`,
      )
    }
    // A process uses one core for its main thread; a machine of its own lets it use all of it. Commits are grouped more
    // when more runs wait, so the database's time per run is an upper bound.
    const perMachine = 1_000_000 / perRun('one', 'processes')
    const perDatabase = 8_000_000 / perRun('two', 'postgres')
    console.log(
      `calculated: three machines ${(3 * perMachine).toFixed(0)} runs/s, a database with 8 cores ` +
        `${perDatabase.toFixed(0)} runs/s; together ${Math.min(3 * perMachine, perDatabase).toFixed(0)} runs/s (aim 30,000)`,
    )
  }
}

{
  const settings = ['log_statement=all', 'log_min_duration_statement=-1']
  await using server = await PostgresServer.start({ isDurable: true, settings })
  const environment = await environmentOf(server)
  const installation = initMillrace(folder, environment)
  const services: Millrace[] = []
  for (let index = 0; index < 3; index += 1) services.push(await serveMillrace(installation, environment))
  // The first retention round, the warm-up of the sandbox.
  await Bun.sleep(8_000)
  const statements = () =>
    readFileSync(join(server.folder, 'log'), 'utf8').match(/LOG: {2}(statement|execute)/g)?.length ?? 0
  const before = statements()
  await Bun.sleep(idleMs)
  const perSecond = (statements() - before) / (idleMs / 1_000)
  console.log(`three idle processes: ${perSecond.toFixed(1)} statements/s (bar: fewer than 10)`)
  for (const service of services) await service.stop()
}
rmSync(folder, { recursive: true })

/** One address for each group of services. */
async function startNginx<Name extends string>(groups: Record<Name, readonly Millrace[]>) {
  const file = join(folder, 'nginx.conf')
  const ports = {} as Record<Name, number>
  const blocks = Object.entries<readonly Millrace[]>(groups).map(([name, services]) => {
    const port = freePort()
    ports[name as Name] = port
    const targets = services.map(({ url }) => `server ${new URL(url).host};`).join(' ')
    return (
      `upstream ${name} { ${targets} keepalive 64; } server { listen 127.0.0.1:${port}; location / { ` +
      `proxy_pass http://${name}; proxy_http_version 1.1; proxy_set_header Connection ""; } }`
    )
  })
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const http = `http { access_log off; keepalive_requests 1000000; ${places.join(' ')} ${blocks.join(' ')} }`
  writeFileSync(file, `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} ${http}`)
  const nginx = Bun.spawn([programPath('nginx'), '-c', file], { stdout: 'ignore', stderr: 'inherit' })
  for (const port of Object.values<number>(ports)) {
    while ((await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined))?.status !== 200) {
      await Bun.sleep(20)
    }
  }
  const stop = async () => {
    nginx.kill()
    await nginx.exited
  }
  return { ports, pid: nginx.pid, stop }
}

/** Processor time so far, including that of children that have ended. */
function cpuMsOf(pid: number): number {
  try {
    const fields = statOf(pid)
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
  } catch {
    return 0
  }
}

function withChildren(pid: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return [pid, ...all.filter((each) => parentOf(each) === pid)]
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statOf(pid)[1])
  } catch {
    return undefined
  }
}

/** The fields of `/proc/PID/stat` after the name, which may contain spaces. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
