import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScheduleRule } from '../src/domain/schedule/schedule.ts'
import { timetableOf } from '../src/language/timetable.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import {
  type Installation,
  initMillrace,
  type Millrace,
  median,
  percentile,
  residentMb,
  serveMillrace,
} from './support/service.ts'

/**
 * How much do many schedules cost at start and while the service is idle, and how late do runs start? `bun
 * bench/schedules.ts [schedules] [seconds] [rounds]` alternates starts with and without schedules. Then it measures the
 * CPU time with schedules that are due in months, and how late runs start when schedules are due every second, and when
 * a tenth of all is due at once.
 */
const [count = 10_000, seconds = 60, rounds = 5] = process.argv.slice(2).map(Number)

// Whole hours apart, so that all are due in the same second.
const zones: readonly string[] = ['UTC', 'Europe/Lisbon', 'America/New_York', 'Asia/Tokyo']

const empty = installed()
const far = await registered(() => ({ cron: '0 0 1 */6 *' }))
const startedMs: Record<'none' | 'many', number[]> = { none: [], many: [] }
for (let round = 0; round < rounds; round += 1) {
  for (const [name, installation] of [
    ['none', empty],
    ['many', far],
  ] as const) {
    const from = performance.now()
    const service = await serveMillrace(installation)
    await until(async () => (await fetch(`${service.url}/health/ready`)).ok)
    startedMs[name].push(performance.now() - from)
    await service.stop()
  }
}
console.log(`${count} schedules, ${rounds} starts each, medians: exec to ready`)
console.log(`  without ${median(startedMs.none).toFixed(0)} ms, with ${median(startedMs.many).toFixed(0)} ms`)

for (const [name, installation] of [
  ['without', empty],
  ['with', far],
] as const) {
  const service = await serveMillrace(installation)
  await Bun.sleep(3_000)
  const before = cpuMs(service)
  await Bun.sleep(10_000)
  const share = (cpuMs(service) - before) / 100
  console.log(
    `idle ${name}: ${share.toFixed(2)} % of a processor, ${(await residentMb(service.pid)).toFixed(0)} MB resident`,
  )
  await service.stop()
}

const spread = await registered((index) => {
  const minute = Math.floor(index / 60) % 10
  return { cron: `${index % 60} ${[0, 1, 2, 3, 4, 5].map((ten) => ten * 10 + minute).join(',')} * * * *` }
})
await report(`${(count / 600).toFixed(0)} due each second`, spread, seconds)
const at = new Date(Date.now() + 25_000)
const together = await registered((index) => {
  return index % 10 === 0 ? { cron: `${at.getUTCSeconds()} ${at.getUTCMinutes()} * * * *` } : { cron: '0 0 1 */6 *' }
})
await report(`${Math.ceil(count / 10)} due at once`, together, 35)

for (const { directory } of [empty, far, spread, together]) rmSync(directory, { recursive: true })

/** Runs a service for a while and reports how late its scheduled runs were recorded. */
async function report(name: string, installation: Installation, lastS: number): Promise<void> {
  const service = await serveMillrace(installation)
  const startedAt = Date.now()
  await Bun.sleep(lastS * 1_000)
  const late = (await runs(service))
    .filter(({ dueAt }) => dueAt > startedAt)
    .map(({ dueAt, firedAt }) => firedAt - dueAt)
  const of = (share: number) => percentile(late, share).toFixed(0)
  console.log(
    `${name}: ${late.length} runs, late by p50 ${of(0.5)} ms, p99 ${of(0.99)} ms, at most ${Math.max(...late)} ms`,
  )
  await service.stop()
}

async function runs({ url, apiKey, workspaceId }: Millrace): Promise<{ dueAt: number; firedAt: number }[]> {
  const found: { dueAt: number; firedAt: number }[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ workspaceId, limit: '1000', includeFinalOutput: 'true' })
    if (cursor !== '') query.set('cursor', cursor)
    const response = await fetch(`${url}/api/v1/logs?${query}`, { headers: { 'x-api-key': apiKey } })
    const page = (await response.json()) as { data: Entry[]; nextCursor: string | null }
    for (const { finalOutput } of page.data) {
      found.push({ dueAt: Date.parse(finalOutput.dueAt), firedAt: Date.parse(finalOutput.firedAt) })
    }
    cursor = page.nextCursor
  }
  return found
}

type Entry = { finalOutput: { dueAt: string; firedAt: string } }

function installed(): Installation {
  return initMillrace(mkdtempSync(join(tmpdir(), 'millrace-bench-')))
}

/** An installation whose store contains many workflows deployed with a schedule. */
async function registered(ruleOf: (index: number) => { cron: string }): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  cpSync(empty.directory, directory, { recursive: true })
  const store = await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
  const [workspace] = await store.listWorkspaces((await store.listUsers())[0]!.id)
  const { id: workspaceId, ownerId } = workspace!
  for (let index = 0; index < count; index += 1) {
    const params = { ...ruleOf(index), timezone: zones[index % zones.length]! }
    const rule: ScheduleRule = {
      ...{ ...params, intervalMs: null, startAt: null, endAt: null },
      ...{ overlap: 'skip', missed: 'skip', missedMax: 10, jitterMs: 0 },
    }
    const trigger = { id: 'it', type: 'schedule', name: 'It', params: { ...params, missed: 'skip' } }
    const document = { name: `Schedule ${index}`, blocks: { it: trigger }, edges: [] }
    const at = Date.now()
    const { id } = await store.createWorkflow({ id: null, workspaceId, document, at })
    const schedule = { rule, dueAt: timetableOf(rule).next(at) }
    await store.deploy(id, document, at, ownerId, { addresses: [], schedule })
  }
  await store.close()
  return { ...empty, directory, workspaceId }
}

function cpuMs({ pid }: Millrace): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await Bun.sleep(5)
}
