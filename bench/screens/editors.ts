import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { EditorEvent } from '../../src/domain/workflow/editor-event.ts'
import { readEvents } from '../../src/ui/editor/run/read-events.ts'
import { deploy, percentile, startMillrace } from '../support/service.ts'

/**
 * Does a workflow that many people have open delay anybody else? `bun bench/screens/editors.ts [editors] [blocks]`. The
 * editors are in another process and do what the real one does: they load and check the draft when it was saved, and
 * answer each call. The draft is saved once a second, and each editor selects another block every minute.
 */
async function measure(editors: number, blocks: number): Promise<void> {
  const service = await startMillrace({ MILLRACE_NO_AUTH: 'true', MILLRACE_WATCHERS_MAX: `${editors * 4}` })
  try {
    const id = (await deploy(service, documentOf(blocks, 0))).split('/').at(-2) ?? ''
    const alone = await healthUntil(service.url, Bun.sleep(3_000))
    const followers = spawn(process.execPath, [import.meta.path, 'crowd', service.url, id, `${editors}`], {
      // Otherwise the requests beyond 256 would wait for the streams.
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: `${editors * 4}` },
    })
    followers.stderr.pipe(process.stderr)
    const said = createInterface(followers.stdout)[Symbol.asyncIterator]()
    const arrival = await healthUntil(service.url, said.next())
    const quiet = await healthUntil(service.url, Bun.sleep(10_000))
    const saving = saveEverySecond(`${service.url}/api/workflows/${id}`, service.apiKey, blocks)
    const busy = await healthUntil(service.url, saving)
    followers.kill('SIGUSR2')
    const { value: counts } = await said.next()
    followers.kill()
    console.log(`/health/ready without editors          ${alone}`)
    console.log(`while ${editors} editors arrive         ${arrival}`)
    console.log(`while they look                        ${quiet}`)
    console.log(`while the draft is saved every second  ${busy}`)
    console.log(`slowest save: ${(await saving).toFixed(0)} ms; ${counts}`)
  } finally {
    await service.stop()
  }
}

/** Asks one request after another until the promise is fulfilled. */
async function healthUntil(url: string, end: Promise<unknown>): Promise<string> {
  let isOver = false
  void end.finally(() => {
    isOver = true
  })
  const took: number[] = []
  while (!isOver) {
    const at = performance.now()
    await (await fetch(`${url}/health/ready`)).text()
    took.push(performance.now() - at)
    await Bun.sleep(10)
  }
  const shown = (share: number) => percentile(took, share).toFixed(0).padStart(5)
  return `p50 ${shown(0.5)} ms, p99 ${shown(0.99)} ms, longest ${shown(1)} ms`
}

/** Returns the time of the slowest save. */
async function saveEverySecond(address: string, apiKey: string, blocks: number): Promise<number> {
  const took: number[] = []
  for (let round = 1; round <= 15; round += 1) {
    const at = performance.now()
    const body = JSON.stringify(documentOf(blocks, round))
    const { ok, status } = await fetch(address, { method: 'PUT', headers: { 'x-api-key': apiKey }, body })
    if (!ok) throw new Error(`The draft was not saved: ${status}`)
    took.push(performance.now() - at)
    await Bun.sleep(Math.max(0, 1_000 - (performance.now() - at)))
  }
  return Math.max(...took)
}

/** The editors, in a process of their own. SIGUSR2 makes it print the messages that they received. */
async function crowd(url: string, id: string, editors: number): Promise<void> {
  const heard: Heard = { lists: 0, calls: 0, saved: 0, loaded: 0, lateMs: [] }
  process.on('SIGUSR2', () => {
    const { lateMs, ...counts } = heard
    const toldAfterMs = { p50: percentile(lateMs, 0.5), longest: percentile(lateMs, 1) }
    console.log(JSON.stringify({ ...counts, toldAfterMs }))
  })
  for (let at = 0; at < editors; at += 20) {
    const arriving = Array.from({ length: Math.min(20, editors - at) }, () => {
      return new Promise<void>((joined) => void edit(url, id, heard, joined))
    })
    await Promise.all(arriving)
  }
  console.log('all are here')
}

type Heard = { lists: number; calls: number; saved: number; loaded: number; lateMs: number[] }

/** One editor. */
async function edit(url: string, id: string, heard: Heard, joined: () => void): Promise<void> {
  const address = `${url}/api/editor/workflows/${id}`
  const known = { editorId: '', own: 0, told: 0, isLoading: false }
  const load = async () => {
    if (known.isLoading) return
    known.isLoading = true
    while (known.own < known.told) {
      const { workflow } = await send<Newer>(url, `${address}/newer?revision=${known.own}`)
      known.own = workflow?.revision ?? known.told
      heard.loaded += 1
    }
    known.isLoading = false
  }
  const place = (blockId: string | null) => send(url, `${address}/presence`, { editorId: known.editorId, blockId })
  for await (const each of readEvents(`${address}/events`, new AbortController().signal)) {
    const event = each as EditorEvent
    if (event.event === 'joined') {
      known.editorId = event.editorId
      known.own = event.draft.revision
      setInterval(() => void place(`step${Math.floor(Math.random() * 10)}`), 60_000)
      joined()
    }
    if (event.event === 'editors') heard.lists += 1
    if (event.event === 'call') {
      heard.calls += 1
      void place(null)
    }
    if (event.event === 'saved') {
      heard.saved += 1
      heard.lateMs.push(Date.now() - event.draft.savedAt)
      known.told = event.draft.revision
      void load()
    }
  }
}

type Newer = { workflow: { revision: number } | null }

async function send<Body>(url: string, to: string, body?: object): Promise<Body> {
  const given = body && { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(to, { headers: { origin: url }, ...given })
  if (!response.ok) throw new Error(`${to} returned ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

function documentOf(count: number, revision: number): object {
  const steps = Array.from({ length: count }, (_, at) => `step${at}`)
  const assign = [{ name: 'v', value: `Text number ${revision} of a length that is usual in workflows` }]
  const blocks = Object.fromEntries(steps.map((id) => [id, { id, type: 'variables', name: id, params: { assign } }]))
  const edges = ['in', ...steps.slice(0, -1)].map((source, at) => ({ id: `e${at}`, source, target: `step${at}` }))
  return {
    name: 'Shared',
    blocks: { in: { id: 'in', type: 'api_trigger', name: 'in' }, ...blocks },
    edges,
    variables: { v: { value: '' } },
  }
}

const [first = '800', ...rest] = process.argv.slice(2)
if (first === 'crowd') await crowd(rest[0] ?? '', rest[1] ?? '', Number(rest[2]))
else await measure(Number(first), Number(rest[0] ?? 100))
