import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load, median } from './support/service.ts'

/**
 * Where should the commit of finished runs happen? `bun bench/store.ts [rounds] [ms] [full|normal]`. In turns:
 * - bare: bench/support/bare-server.ts, one short row a request, committed by the event loop;
 * - direct: the service's writer and store, committed by the event loop;
 * - threads: the same in a thread of its own. This is what the service does.
 *
 * On two shared cores with a disk that flushes in 0.12 ms, FULL, requests/s and p50 (medians of 4 or 5 rounds):
 *
 *              32 connections      8                 4                 1
 *   bare       45,400  0.71 ms    18,000  0.41 ms   10,100  0.39 ms   4,500  0.19 ms
 *   direct     25,000  1.31       10,700  0.70       6,700  0.55      2,600  0.32
 *   threads    28,100  1.19       11,100  0.65       6,000  0.62      2,500  0.33
 *
 * On an idle machine threads reach 39,500 with 32 connections against 33,500 of direct, and 0.25 ms with one against
 * 0.20. Handing a group over as an array of objects, as one string, or through a ring in shared memory with Atomics
 * differs by less than the noise: waking a sleeping thread costs 25 µs, whatever carries the bytes. On a disk that
 * takes longer (2.4 ms is common) only the thread keeps the loop free.
 */
const [rounds = '5', ms = '1500', sync = 'full'] = process.argv.slice(2)

type Served = { url: string; lag(): Promise<{ p99: number; max: number }>; stop(): Promise<void> }

async function serve(variant: string): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const command =
    variant === 'bare'
      ? [join(import.meta.dir, 'support/bare-server.ts'), join(directory, 'bare.db')]
      : [join(import.meta.dir, 'support/store-server.ts'), directory, variant, sync]
  const child = Bun.spawn([process.execPath, ...command], { stdout: 'pipe', stderr: 'inherit' })
  const { value } = await child.stdout.getReader().read()
  const origin = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`
  return {
    url: `${origin}/execute`,
    lag: async () =>
      variant === 'bare' ? { p99: Number.NaN, max: Number.NaN } : await (await fetch(`${origin}/lag`)).json(),
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

type Measured = { perSecond: number[]; p50: number[]; p99: number[]; lag: number[] }

const variants = ['bare', 'direct', 'threads']
const body = '{"n":5,"name":"millrace"}'
for (const connections of [32, 4, 1]) {
  const results = new Map<string, Measured>(
    variants.map((name) => [name, { perSecond: [], p50: [], p99: [], lag: [] }]),
  )
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, measured] of results) {
      const served = await serve(name)
      await load({ url: served.url, headers: [], connections, ms: 700, body })
      await served.lag()
      const { perSecond, p50, p99 } = await load({ url: served.url, headers: [], connections, ms: Number(ms), body })
      measured.perSecond.push(perSecond)
      measured.p50.push(p50)
      measured.p99.push(p99)
      measured.lag.push((await served.lag()).p99)
      await served.stop()
    }
  }
  console.log(`\n${connections} connections, ${rounds} rounds of ${ms} ms, medians (and the best)`)
  console.log('           requests/s           p50 ms           p99 ms   loop lag p99 ms')
  for (const [name, { perSecond, p50, p99, lag }] of results) {
    const cells = [
      `${median(perSecond)} (${Math.max(...perSecond)})`,
      `${median(p50).toFixed(3)} (${Math.min(...p50).toFixed(3)})`,
      `${median(p99).toFixed(2)} (${Math.min(...p99).toFixed(2)})`,
      `${median(lag).toFixed(2)}`,
    ]
    console.log(`${name.padEnd(8)} ${cells.map((cell) => cell.padStart(16)).join(' ')}`)
  }
}
