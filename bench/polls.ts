import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { initMillrace, type Millrace, residentMb, serveMillrace } from './support/service.ts'

/**
 * How much do many idle polls cost? `bun bench/polls.ts [polls] [seconds]` polls lists of 20 items once a
 * minute each. Half of the answers say that nothing has changed (304), and the others repeat the list. The bench
 * reports the CPU time of the service and the most requests of one origin at once. The services that it polls run in
 * another process.
 */
const [count = 10_000, seconds = 60] = process.argv.slice(2).map(Number)
const origins = 20

if (process.argv[2] === 'lists') await serveLists()
else await measure()

async function measure(): Promise<void> {
  const lists = Bun.spawn([process.execPath, import.meta.path, 'lists'], { stdout: 'pipe', stderr: 'inherit' })
  const reader = lists.stdout.getReader()
  const ports = JSON.parse(new TextDecoder().decode((await reader.read()).value)) as number[]
  reader.releaseLock()
  const installation = initMillrace(mkdtempSync(join(tmpdir(), 'millrace-bench-')))
  await registerPolls(installation.directory, ports)
  const service = await serveMillrace(installation, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  // Each poll is due at once when it is registered, so the first minute is not idle.
  await Bun.sleep(75_000)
  const before = { cpu: cpuMs(service), asked: await askedOf(ports) }
  await Bun.sleep(seconds * 1_000)
  const after = { cpu: cpuMs(service), asked: await askedOf(ports) }
  const share = (after.cpu - before.cpu) / (10 * seconds)
  const requests = after.asked.requests - before.asked.requests
  console.log(`${count} polls, one a minute each: ${(requests / seconds).toFixed(0)} requests a second`)
  console.log(`  ${share.toFixed(2)} % of a processor, ${(await residentMb(service.pid)).toFixed(0)} MB resident`)
  console.log(`  at most ${after.asked.peak} requests of an origin at once`)
  await service.stop()
  lists.kill()
  rmSync(installation.directory, { recursive: true })
}

async function registerPolls(directory: string, ports: readonly number[]): Promise<void> {
  const store = await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
  const [owner] = await store.listUsers()
  const [workspace] = await store.listWorkspaces(owner!.id)
  const now = Date.now()
  for (let index = 0; index < count; index += 1) {
    const url = `http://127.0.0.1:${ports[index % ports.length]}/${index % 2 === 0 ? 'tagged' : 'plain'}/${index}`
    const params = { request: { url }, id: 'id', everyMs: 60_000 }
    const document = {
      name: `Poll ${index}`,
      blocks: { it: { id: 'it', type: 'poll_trigger', name: 'It', params } },
      edges: [],
    }
    const { id } = await store.createWorkflow({ id: null, workspaceId: workspace!.id, document, at: now })
    const rule = {
      ...{ cron: null, intervalMs: 60_000, timezone: 'UTC', startAt: (index * 60_000) / count, endAt: null },
      ...({ overlap: 'allow', missed: 'once', missedMax: 1, jitterMs: 0 } as const),
    }
    rule.startAt = Math.floor(rule.startAt)
    const poll = { blockId: 'it', kind: 'poll' as const, identity: url, rule, dueAt: now, firstAt: now + rule.startAt }
    await store.deploy(id, document, now, owner!.id, { addresses: [], schedule: null, polls: [poll] })
  }
  await store.close()
}

function cpuMs({ pid }: Millrace): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

type Asked = { requests: number; peak: number }

async function askedOf(ports: readonly number[]): Promise<Asked> {
  return (await (await fetch(`http://127.0.0.1:${ports[0]}/asked`)).json()) as Asked
}

/** The services that are polled: each answers after 5 ms. */
async function serveLists(): Promise<void> {
  const items = Array.from({ length: 20 }, (_, id) => ({ id, title: `Item ${id}`, text: 'x'.repeat(200) }))
  const body = JSON.stringify(items)
  let requests = 0
  let peak = 0
  const servers = Array.from({ length: origins }, () => {
    let open = 0
    return Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname === '/asked') return Response.json({ requests, peak } satisfies Asked)
        requests += 1
        open += 1
        peak = Math.max(peak, open)
        await Bun.sleep(5)
        open -= 1
        const isTagged = pathname.startsWith('/tagged')
        const headers = { 'content-type': 'application/json', ...(isTagged && { etag: '"one"' }) }
        if (isTagged && request.headers.get('if-none-match') === '"one"')
          return new Response(null, { status: 304, headers })
        return new Response(body, { headers })
      },
    })
  })
  console.log(JSON.stringify(servers.map(({ port }) => port)))
  await new Promise(() => undefined)
}
