import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deploy, median, residentMb, startMillrace } from './support/service.ts'

/**
 * How much of a bare server's speed remains when a file of 20 MB arrives as base64 and is stored with its run, and how
 * much memory do ten such requests at once need? `bun bench/files.ts [rounds]` alternates; the ratio is of the medians.
 */
const [rounds = 9] = process.argv.slice(2).map(Number)
const fileBytes = 20 * 1_048_576
const mb = 1_048_576

const content = Buffer.alloc(fileBytes)
for (let at = 0; at < fileBytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
const item = { type: 'file', name: 'large.bin', data: `data:application/pdf;base64,${content.toString('base64')}` }
const body = Buffer.from(JSON.stringify({ docs: item }))

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-files-'))
const bare = Bun.spawn([process.execPath, join(import.meta.dir, 'support/bare-upload.ts'), folder], { stdout: 'pipe' })
const { value: port } = await bare.stdout.getReader().read()
const millrace = await startMillrace()
const execute = await deploy(millrace, {
  name: 'Takes a file',
  blocks: {
    start: {
      id: 'start',
      type: 'api_trigger',
      name: 'Start',
      params: { inputFormat: [{ name: 'docs', type: 'files' }] },
    },
    end: { id: 'end', type: 'response', name: 'End', params: { data: '<api.docs[0].size>' } },
  },
  edges: [{ source: 'start', target: 'end' }],
})
const targets = {
  bare: {
    url: `http://127.0.0.1:${Buffer.from(port ?? '')
      .toString()
      .trim()}/upload`,
    headers: {},
  },
  millrace: { url: execute, headers: { 'x-api-key': millrace.apiKey } },
}

async function upload({ url, headers }: (typeof targets)['bare' | 'millrace']): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(url, { method: 'POST', body, headers })
  const text = await response.text()
  if (!response.ok || !text.includes(String(fileBytes)))
    throw new Error(`${url}: ${response.status} ${text.slice(0, 200)}`)
  return performance.now() - startedAt
}

const times: Record<string, number[]> = { bare: [], millrace: [] }
for (let round = -1; round < rounds; round += 1) {
  for (const [name, target] of Object.entries(targets)) {
    const ms = await upload(target)
    if (round >= 0) times[name]?.push(ms)
  }
}
const speed = (name: string) => fileBytes / mb / (median(times[name] ?? []) / 1000)
console.log(`One request with a file of 20 MB, ${rounds} rounds, medians`)
for (const name of Object.keys(targets)) {
  console.log(
    `${name.padEnd(10)} ${speed(name).toFixed(0).padStart(6)} MB/s ${(speed(name) / speed('bare')).toFixed(2).padStart(6)} of bare`,
  )
}

const idle = await residentMb(millrace.pid)
const peaks: number[] = []
for (let round = 0; round < 3; round += 1) {
  let peak = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await residentMb(millrace.pid))
      await Bun.sleep(2)
    }
  })()
  await Promise.all(Array.from({ length: 10 }, () => upload(targets.millrace)))
  isOver = true
  await watching
  peaks.push(peak)
}
console.log(
  `Ten such requests at once, three times: ${peaks.map((peak) => peak.toFixed(0)).join(', ')} MB at most, ${idle.toFixed(0)} MB before`,
)
const stored = readdirSync(join(millrace.directory, 'files'), { recursive: true, withFileTypes: true }).filter(
  (entry) => entry.isFile(),
)
console.log(`${stored.length} files are stored`)

await millrace.stop()
bare.kill()
await bare.exited
rmSync(folder, { recursive: true })
