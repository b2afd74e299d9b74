import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, init, type Serving, serve } from '../../support/running-service.ts'

export type StoreCrashReport = {
  rounds: number
  /** The recorded runs, and those of them that did not succeed. */
  runs: number
  failed: number
  /** The sum that the runs made together, and the sum that they should have made. */
  sum: number
  expected: number
  /** Runs whose outputs do not show the amounts that they added. */
  wrong: number
}

/** The amounts by which one run increments the sum: once, in each iteration of a loop, and once more. */
const [first, each, iterations, last] = [1, 10, 5, 1_000]
const ofRun = first + each * iterations + last

/**
 * Starts asynchronous runs that increment one entry of the store several times, and kills the service with -9 during
 * the runs. `random` returns 0 ≤ n < 1.
 */
export async function crashIncrements(options: {
  rounds: number
  random(): number
  progress?(round: number): void
}): Promise<StoreCrashReport> {
  const { rounds, random, progress } = options
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  let service = await serve(folder.path)
  const { pathname } = new URL(await deploy(service.url, apiKey, counting))
  for (let round = 0; round < rounds; round += 1) {
    // Few at a time: a run that makes no progress between three crashes is given up.
    const starting = Promise.allSettled(Array.from({ length: 5 }, () => startRun(service.url + pathname, apiKey)))
    await Bun.sleep(30 + random() * 150)
    await service.kill('SIGKILL')
    await starting
    progress?.(round + 1)
    service = await serve(folder.path)
  }
  await untilIdle(service, apiKey, workspaceId)
  const runs = await recordedRuns(service, apiKey, workspaceId)
  const { body } = await call(`${service.url}/api/workspaces/${workspaceId}/store`, apiKey)
  const { data } = body as { data: { key: string; value: number }[] }
  await service.kill('SIGTERM')
  return {
    ...{ rounds, runs: runs.length, failed: runs.filter(({ level }) => level === 'error').length },
    ...{ sum: data.find(({ key }) => key === 'sum')?.value ?? 0, expected: runs.length * ofRun },
    wrong: runs.filter(({ finalOutput }) => !addsUp(finalOutput?.data)).length,
  }
}

const increment = (id: string, by: number) =>
  block(id, 'store', { operation: 'increment', key: 'sum', scope: 'workspace', by })
const counting = document({
  name: 'Counting',
  blocks: [
    block('start', 'api_trigger'),
    increment('first', first),
    block('loop', 'loop'),
    { ...increment('each', each), parentId: 'loop' },
    increment('last', last),
    block('end', 'response', { data: { first: '<first.value>', last: '<last.value>' } }),
  ],
  edges: [
    'start > first',
    'first > loop',
    'loop:loop-start-source > each',
    'loop:loop-end-source > last',
    'last > end',
  ],
  loops: { loop: { loopType: 'for', iterations } },
})

async function startRun(url: string, apiKey: string): Promise<void> {
  const headers = { 'x-api-key': apiKey, 'x-execution-mode': 'async' }
  const { status } = await fetch(url, { method: 'POST', headers, body: '{}' })
  if (status !== 202) throw new Error(`The run was not accepted: ${status}`)
}

/** Waits until no run is queued or in progress. */
async function untilIdle({ url }: Serving, apiKey: string, workspaceId: string): Promise<void> {
  for (const status of ['queued', 'processing', 'queued', 'processing']) {
    for (;;) {
      const { body } = await call(`${url}/api/workspaces/${workspaceId}/runs?status=${status}&limit=1`, apiKey)
      if ((body as { data: unknown[] }).data.length === 0) break
      await Bun.sleep(50)
    }
  }
}

/** Other runs add to the sum in between, so a run sees at least the amounts that it added itself. */
function addsUp(sums: { first: number; last: number } | undefined): boolean {
  return sums !== undefined && sums.last >= sums.first + each * iterations + last
}

type Entry = { level: string; finalOutput: { data?: { first: number; last: number } } | null }

async function recordedRuns({ url }: Serving, apiKey: string, workspaceId: string): Promise<Entry[]> {
  const found: Entry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ workspaceId, limit: '1000', includeFinalOutput: 'true', details: 'full' })
    if (cursor !== '') query.set('cursor', cursor)
    const { body } = await call(`${url}/api/v1/logs?${query}`, apiKey)
    const page = body as { data: Entry[]; nextCursor: string | null }
    found.push(...page.data)
    cursor = page.nextCursor
  }
  return found
}
